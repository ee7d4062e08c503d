import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import type { JsonValue } from '../../core/base/json.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { readCorpora } from '../corpus/read-corpus.ts';
import { cpuTimed } from '../print/cpu-time.ts';
import type { SpeedSection } from './section.ts';

const LONG_RUN = 200_000;

export const tokenRateSection: SpeedSection = {
  id: 'token-rate',
  title: 'Counting tokens against plain js-tiktoken (CPU time)',
  needsCorpus: true,
  async run({ corpusPath, say }) {
    const texts = readCorpora(corpusPath)
      .flatMap(({ sessions }) => sessions)
      .flatMap((session) => toTrajectory(session).steps)
      .flatMap(({ parts }) => parts)
      .flatMap(({ block }): JsonValue[] =>
        block.type === 'text' ? [block.text] : block.type === 'tool_result' ? [block.content] : [],
      )
      .filter((text) => typeof text === 'string');
    const load = await cpuTimed(() => makeTokenCounter().count('load the ranks'));
    // A new counter: what it has to learn of these texts counts as well.
    const counter = makeTokenCounter();
    const total = () => texts.reduce((sum, text) => sum + counter.count(text), 0);
    const first = await cpuTimed(total);
    const again = await cpuTimed(total);
    const run = await cpuTimed(() => counter.count('a'.repeat(LONG_RUN)));
    say('plain js-tiktoken on the same texts');
    const loadPlain = await cpuTimed(() => new Tiktoken(o200k));
    const plain = await cpuTimed(() =>
      texts.reduce((sum, text) => sum + loadPlain.result.encode(text, [], []).length, 0),
    );
    const off = (Math.abs(first.result - plain.result) / plain.result) * 100;
    return {
      figures: [
        { name: 'texts', value: plain.result, unit: 'tokens', better: 'same' },
        { name: 'difference from js-tiktoken', value: off, unit: '%', better: 'lower' },
        { name: 'plain js-tiktoken', value: plain.result / plain.seconds, unit: 'tokens/s', better: 'same' },
        { name: 'first count', value: first.result / first.seconds, unit: 'tokens/s', better: 'higher' },
        { name: 'second count', value: again.result / again.seconds, unit: 'tokens/s', better: 'higher' },
        {
          name: 'first count, times as fast',
          value: plain.seconds / first.seconds,
          unit: '×',
          better: 'higher',
        },
        {
          name: 'second count, times as fast',
          value: plain.seconds / again.seconds,
          unit: '×',
          better: 'higher',
        },
        { name: 'load', value: load.seconds * 1000, unit: 'ms', better: 'lower' },
        { name: 'load of plain js-tiktoken', value: loadPlain.seconds * 1000, unit: 'ms', better: 'same' },
        { name: "200,000 × 'a'", value: run.seconds * 1000, unit: 'ms', better: 'lower' },
      ],
    };
  },
};
