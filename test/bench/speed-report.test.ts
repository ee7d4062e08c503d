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
      figures: [
        { name: 'rate', value: values.rate ?? 0, unit: 'tokens/s', better: 'higher' },
        { name: 'time', value: values.time ?? 0, unit: 'ms', better: 'lower' },
        { name: 'size', value: values.size ?? 0, unit: 'MB', better: 'same' },
      ],
    },
  ],
});

describe('the speed table', () => {
  test('says what got better, what got worse, and what is noise', () => {
    const earlier = report({ rate: 1000, time: 100, size: 5 });
    const table = speedTable(report({ rate: 2000, time: 150, size: 6 }), earlier);
    expect(table).toMatch(/rate +2,000 tokens\/s +was 1,000 \(\+100\.0 %, better\)/);
    expect(table).toMatch(/time +150 ms +was 100 \(\+50\.0 %, worse\)/);
    expect(table).toMatch(/size +6 MB +was 5 \(\+20\.0 %\)/);
    expect(speedTable(report({ rate: 1030, time: 97 }), earlier)).not.toMatch(/better|worse/);
  });

  test('of a first run compares nothing', () => {
    expect(speedTable(report({ rate: 1 }), null)).not.toContain('was');
  });

  test('sections have ids of their own', () => {
    expect(new Set(SPEED_SECTIONS.map(({ id }) => id)).size).toBe(SPEED_SECTIONS.length);
  });
});
