import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { limitsOf, UNNAMED_MODEL } from '../../core/model/capabilities.ts';
import type { Model, ModelAnswer, ModelRequest } from '../../core/model/port.ts';
import { hashBody, writeConverseBody } from '../../core/model/request-body.ts';
import { answerSchema } from './answer-file.ts';

/** One file a request, `<dir>/<hash of the request's body>.json`; purpose and prompt version are for people. */
const recordingSchema = z.object({
  purpose: z.string(),
  promptVersion: z.string(),
  answer: answerSchema,
});

/** Answers from a folder of recordings; a request that was never recorded is an error. */
export function replayModel(spec: string, dir: string): Model {
  return {
    spec,
    limits: limitsOf(UNNAMED_MODEL),
    async ask(request) {
      const hash = hashBody(writeConverseBody(request));
      const file = path.join(dir, `${hash}.json`);
      const { answer } = parseRecording(file, await readRecording(file, request));
      return { ...answer, requestHash: hash };
    },
  };
}

async function readRecording(file: string, request: ModelRequest): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ConfigurationInvalidError(
      `no recording of this request (${request.purpose}, ${request.promptVersion}): ${file} cannot be read. ` +
        'The session, the options or a prompt differ from those recorded: record again.',
      { cause },
    );
  }
}

function parseRecording(file: string, text: string): z.infer<typeof recordingSchema> {
  try {
    return recordingSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ConfigurationInvalidError(`${file} is not a recording made by Rootspan`, { cause });
  }
}

/** Passes everything on to a model and writes its answers down for `replay:`. */
export function recordModel(model: Model, dir: string): Model {
  return {
    spec: model.spec,
    limits: model.limits,
    async ask(request) {
      const answer: ModelAnswer = await model.ask(request);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const file = path.join(dir, `${hashBody(writeConverseBody(request))}.json`);
      const text = JSON.stringify(
        { purpose: request.purpose, promptVersion: request.promptVersion, answer },
        null,
        2,
      );
      // Rename is atomic: a reader sees a whole recording or none.
      await writeFile(`${file}.${process.pid}.tmp`, `${text}\n`);
      await rename(`${file}.${process.pid}.tmp`, file);
      return answer;
    },
  };
}
