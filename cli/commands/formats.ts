import { listFormats, listRefused } from '../../core/reading/registry.ts';
import { type CliIo, palette } from '../shell/io.ts';

export async function formatsCommand(flags: { readonly json?: boolean }, io: CliIo): Promise<number> {
  const formats = listFormats();
  if (flags.json ?? !io.outIsTerminal) {
    io.out(`${JSON.stringify(formats, null, 2)}\n`);
    return 0;
  }
  const paint = palette(io);
  const line = (name: string, text: string): string => `    ${paint.dim(name.padEnd(11))}${text}\n`;
  for (const { id, title, from, checkedOn, knownBy } of formats) {
    io.out(`${paint.bold(title)}  ${id}\n`);
    io.out(line('from', from) + line('checked on', checkedOn) + line('known by', knownBy));
  }
  io.out(`\n${paint.bold('Refused by name, with what to give instead')}\n`);
  for (const { name, advice } of listRefused()) io.out(`${name}\n    ${advice}\n`);
  return 0;
}
