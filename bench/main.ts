import { benchChecks } from './checks.ts';

/** `npm run bench -- <name>`: each benchmark prints its figures and returns an exit code. */
const BENCHES: ReadonlyMap<string, (args: readonly string[]) => number | Promise<number>> = new Map([
  ['checks', benchChecks],
]);

const [name = '', ...args] = process.argv.slice(2);
const bench = BENCHES.get(name);
if (bench === undefined) {
  console.error(`unknown benchmark "${name}"; one of: ${[...BENCHES.keys()].join(', ')}`);
  process.exitCode = 2;
} else {
  process.exitCode = await bench(args);
}
