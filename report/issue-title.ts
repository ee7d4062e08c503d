import type { Issue } from '../core/diagnosis/issue.ts';
import { categoryName } from './category-name.ts';
import { safeLine } from './escape.ts';

/** An issue in words: how, where, and what the telemetry said. */
export const issueTitle = ({ category, place, cause }: Pick<Issue, 'category' | 'place' | 'cause'>): string =>
  [categoryName(category), place ?? '', cause]
    .filter((part) => part !== '')
    .map((part) => safeLine(part, 120))
    .join(' · ');
