import { listFormats } from '../../core/reading/registry.ts';
import { type CliIo, palette } from '../shell/io.ts';

export async function formatsCommand(flags: { readonly json?: boolean }, io: CliIo): Promise<number> {
  const formats = listFormats();
  if (flags.json ?? !io.outIsTerminal) {
    io.out(`${JSON.stringify(formats, null, 2)}\n`);
    return 0;
  }
  const paint = palette(io);
  for (const format of formats) {
    io.out(
      `${paint.bold(format.id.padEnd(28))} ${format.title}\n${' '.repeat(29)}${paint.dim(format.knownBy)}\n`,
    );
  }
  return 0;
}
