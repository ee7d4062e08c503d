import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { ConfigurationInvalidError } from '../errors/errors.ts';

/**
 * YAML or JSON as plain data. ConfigurationInvalidError when it is neither, with the place of the first fault; tags and
 * keys given twice are faults, because both would make the file say something else than its author reads.
 */
export function readYaml(text: string, source: string): unknown {
  const lines = new LineCounter();
  const refuse = (what: string, offset: number, cause?: unknown): ConfigurationInvalidError => {
    const { line, col } = lines.linePos(offset);
    return new ConfigurationInvalidError(
      `${source} is neither YAML nor JSON: ${what} at line ${line}, column ${col}`,
      { cause },
    );
  };
  const document = parseDocument(text, {
    schema: 'core',
    lineCounter: lines,
    // What the library does for each key and each error takes the square of the file's size.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const tooDeep = fault.message.includes('call stack');
    throw refuse(tooDeep ? 'nested too deeply' : fault.message, fault.pos[0], fault);
  }
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) throw refuse('a key that is not text', 0);
        if (keys.has(key.value)) {
          throw refuse(`the key '${String(key.value).slice(0, 60)}' stands twice`, key.range?.[0] ?? 0);
        }
        keys.add(key.value);
      }
    },
  });
  try {
    // Aliases are what makes small YAML large; nobody needs a hundred of them in a constraint file.
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error), 0, error);
  }
}
