import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rootspan, scratchFolder } from '../helpers/cli.ts';

const CHAT = [
  { role: 'user', content: 'Where is my order?' },
  { role: 'assistant', content: 'On its way – “soon”.' },
];
const text = JSON.stringify(CHAT);

async function diagnose(content: string | Uint8Array, name = 'chat.json') {
  const file = path.join(scratchFolder(), name);
  writeFileSync(file, content);
  return rootspan(['diagnose', file, '--store', 'none', '--json']);
}

test.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text}`)],
  ['Windows line ends', Buffer.from(`\uFEFF${CHAT.map((line) => JSON.stringify(line)).join('\r\n')}\r\n`)],
  ['UTF-16, as a Windows shell writes it', Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16 the other way round', Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
  ['gzip, as it is stored in S3', gzipSync(text)],
])('%s is read', async (_name, bytes) => {
  const run = await diagnose(bytes);
  expect(JSON.parse(run.out)).toMatchObject({ sessionId: 'chat', goal: 'Where is my order?' });
  expect(run.err).toBe('');
});

test('standard input is decoded as files are', async () => {
  const run = await rootspan(['diagnose', '-', '--store', 'none', '--json'], { stdin: `\uFEFF${text}` });
  expect(JSON.parse(run.out)).toMatchObject({ goal: 'Where is my order?' });
});

describe('what is no session is refused by name, exit code 2', () => {
  test.each([
    ['an empty file', '', /is empty/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /binary file/],
    ['a file of zeros', Buffer.alloc(10_000), /binary file/],
    ['broken gzip', gzipSync(text).subarray(0, 20), /looks like gzip but cannot be unpacked/],
    ['prose', 'It did not work.', /neither JSON/],
    ['an empty list', '[]', /an empty list/],
    ['JSON nested too deep', '['.repeat(100_000), /neither JSON|nested deeper/],
  ])('%s', async (_name, content, message) => {
    const run = await diagnose(content);
    expect(run).toMatchObject({ exitCode: 2, out: '' });
    expect(run.err).toMatch(message);
  });

  test('an empty folder, a missing file, and one that claims a gigabyte', async () => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'runs'));
    const huge = path.join(folder, 'huge.json');
    writeFileSync(huge, '[');
    truncateSync(huge, 1_200_000_000);
    for (const [name, message] of [
      ['runs', /runs holds no file of sessions: it is empty.*\.jsonl/],
      ['runs/', /runs\/ holds no file of sessions/],
      ['none.json', /no such file/],
      ['huge.json', /larger than 400 MiB/],
    ] as const) {
      const run = await rootspan(['diagnose', `${folder}/${name}`, '--store', 'none']);
      expect(run).toMatchObject({ exitCode: 2, out: '' });
      expect(run.err).toMatch(message);
    }
  });
});

test('a message that quotes the input cannot send control sequences to the terminal', async () => {
  const run = await diagnose('\u001b[2J\u001b]0;owned\u0007 no json');
  expect(run.err).toContain('\\u{1b}');
  expect(run.err).not.toContain('\u001b');
});

test('messages of nothing but white space are no content: never looked at, never clean', async () => {
  const run = await diagnose(
    JSON.stringify([
      { role: 'user', content: '' },
      { role: 'assistant', content: '  ' },
    ]),
  );
  expect(JSON.parse(run.out)).toMatchObject({ outcome: 'UNKNOWN', failures: [] });
  expect(JSON.parse(run.out).outcomeReason).toMatch(/^no-content/);
});
