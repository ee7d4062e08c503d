import { describe, expect, test } from 'vitest';
import { type SpeedReport, speedTable } from '../../bench/speed/report.ts';
import { SPEED_SECTIONS } from '../../bench/speed/sections.ts';

const report = (values: Record<string, number>): SpeedReport => ({
  date: '2026-01-01T00:00:00.000Z',
  machine: { cpu: 'x', cores: 2, memoryGb: 8, node: 'v24' },
  sections: [
    {
      id: 'a',
      title: 'Section A',
      load: 1.5,
      figures: [
        { name: 'rate', value: values.rate ?? 0, unit: 'tokens/s', better: 'higher' },
        { name: 'time', value: values.time ?? 0, unit: 'ms', better: 'lower' },
        { name: 'size', value: values.size ?? 0, unit: 'MB', better: 'same' },
      ],
      pictures: [],
    },
  ],
});

describe('the speed table', () => {
  test('prints both figures with their ratio, and says what got better, what got worse, and what is noise', () => {
    const earlier = report({ rate: 1000, time: 100, size: 5 });
    const table = speedTable(report({ rate: 2000, time: 150, size: 6 }), earlier);
    expect(table).toMatch(/rate +2,000 tokens\/s +was 1,000, × 2\.00, better$/m);
    expect(table).toMatch(/time +150 ms +was 100, × 1\.50, worse$/m);
    expect(table).toMatch(/size +6 MB +was 5, × 1\.20$/m);
    expect(speedTable(report({ rate: 1030, time: 97 }), earlier)).not.toMatch(/better|worse/);
  });

  test('judges no time of a busy or of another machine, but what is counted', () => {
    const counted = (value: number, load: number, cpu = 'x'): SpeedReport => {
      const { machine, sections, ...rest } = report({ time: value });
      const tokens = { name: 'count', value, unit: 'tokens', better: 'lower' as const };
      return {
        ...rest,
        machine: { ...machine, cpu },
        sections: sections.map((one) => ({ ...one, load, figures: [...one.figures, tokens] })),
      };
    };
    for (const [now, earlier, says] of [
      [counted(101, 2.1), counted(100, 1), 'more load than cores'],
      [counted(101, 1), counted(100, 9), 'more load than cores'],
      [counted(101, 1), counted(100, 1, 'y'), 'another machine'],
    ] as const) {
      const table = speedTable(now, earlier);
      expect(table).toContain(`(${says}: times are not judged)`);
      expect(table).toMatch(/count +101 tokens +was 100, × 1\.01, worse$/m);
    }
    expect(speedTable(counted(200, 3), counted(100, 1))).toMatch(/time +200 ms +was 100, × 2\.00$/m);
  });

  test('a figure that was nothing is worse when it is something', () => {
    expect(speedTable(report({ time: 3 }), report({ time: 0 }))).toMatch(/time +3 ms +was 0, worse$/m);
    expect(speedTable(report({ time: 0 }), report({ time: 0 }))).toMatch(/time +0 ms +was 0, × 1\.00$/m);
  });

  test('of a first run compares nothing', () => {
    expect(speedTable(report({ rate: 1 }), null)).not.toContain('was');
  });

  test('names a figure that is measured no more', () => {
    const now = report({ rate: 1 });
    const fewer: SpeedReport = {
      ...now,
      sections: now.sections.map((section) => ({ ...section, figures: section.figures.slice(0, 1) })),
    };
    expect(speedTable(fewer, report({ rate: 1, time: 7 }))).toMatch(/time +– ms +was 7, not measured now$/m);
  });

  test('shows the machines and the loads that figures were taken under', () => {
    const table = speedTable(report({}), { ...report({}), date: '2025-12-31T00:00:00.000Z' });
    expect(table).toContain('now   2026-01-01T00:00:00.000Z  x, 2 cores, 8 GB, Node v24');
    expect(table).toContain('then  2025-12-31T00:00:00.000Z');
    expect(table).toContain('Section A; load 1.5, then 1.5');
  });

  test('sections have ids of their own', () => {
    expect(new Set(SPEED_SECTIONS.map(({ id }) => id)).size).toBe(SPEED_SECTIONS.length);
  });
});
