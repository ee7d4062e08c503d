import type { CliIo } from './io.ts';

export interface BatchProgress {
  begin(name: string): void;
  stage(name: string, text: string): void;
  /** `costUsd`: `null` when nothing is known of it. */
  end(name: string, costUsd: number | null): void;
  clear(): void;
}

/** Finished sessions from which on the time that is left is estimated. */
const ENOUGH = 3;

/** One repainted line on a terminal, nothing elsewhere: logs of CI stay readable. */
export function batchProgress(total: number, io: CliIo): BatchProgress {
  const running = new Map<string, string>();
  const begun = performance.now();
  let done = 0;
  let spent = 0;
  let painted = false;
  const write = (text: string): void => {
    if (!io.errIsTerminal || (text === '' && !painted)) return;
    painted = text !== '';
    io.err(`\r\u001b[2K${text.slice(0, Math.max(20, io.columns - 1))}`);
  };
  const paint = (): void => {
    const [first] = running;
    if (first === undefined) {
      write('');
      return;
    }
    const [name, stage] = first;
    const others = running.size > 1 ? ` and ${running.size - 1} more` : '';
    if (total === 1) write(`${name}: ${stage}`);
    else write(`${done}/${total} done${left()} · ${name}${others}: ${stage}`);
  };
  const left = (): string => {
    if (done < ENOUGH) return '';
    const seconds = ((performance.now() - begun) / 1000 / done) * (total - done);
    const time = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
    const cost = spent === 0 ? '' : `, USD ${((spent / done) * (total - done)).toFixed(2)}`;
    return ` · about ${time}${cost} left`;
  };
  return {
    begin(name) {
      running.set(name, 'reading');
      paint();
    },
    stage(name, text) {
      running.set(name, text);
      paint();
    },
    end(name, costUsd) {
      running.delete(name);
      done += 1;
      spent += costUsd ?? 0;
      paint();
    },
    clear: () => write(''),
  };
}
