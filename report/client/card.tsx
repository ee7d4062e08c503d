import type { ComponentChildren } from 'preact';

/** Goes to the step of a span and, where given, to a quote in it. */
export type Jump = (spanId: string, quote?: string) => void;

export interface CardProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** One titled part of a page, which links can name. */
export function Card({ id, title, children }: CardProps) {
  return (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
