import { gunzipText, gzipJson } from '../../core/base/gzip.ts';
import { canonicalJson } from '../../core/base/hash.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type { WorkflowStarter } from '../../core/ports/ingest-ports.ts';
import { keyPart } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { type WorkflowInput, workflowInputSchema } from '../../core/ports/workflow.ts';

export interface LocalExecution {
  readonly name: string;
  readonly input: WorkflowInput;
}

const STARTED = 'started/';
const FINISHED = 'finished/';
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * Executions locally: started ones are written down in the object store and run by whoever asks for the open
 * ones, so that a run that was broken off, or waits for a batch of answers, goes on next time.
 */
export class LocalWorkflowStarter implements WorkflowStarter {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async start(name: string, input: WorkflowInput): Promise<'started' | 'exists'> {
    const key = `${STARTED}${keyPart(name)}`;
    if (await this.#objects.putIfAbsent(key, await gzipJson({ name, input }))) return 'started';
    const old = await this.#read(key);
    if (canonicalJson(old.input) === canonicalJson(input)) return 'exists';
    throw new ResultConflictError(
      `execution ${name} exists with another input: its settings have changed since`,
    );
  }

  async running(): Promise<number> {
    return (await this.open()).length;
  }

  async open(): Promise<LocalExecution[]> {
    const found: LocalExecution[] = [];
    for await (const key of this.#objects.list(STARTED)) {
      const done = await this.#objects.get(`${FINISHED}${key.slice(STARTED.length)}`);
      if (done === null) found.push(await this.#read(key));
    }
    return found;
  }

  async finish(name: string): Promise<void> {
    await this.#objects.put(`${FINISHED}${keyPart(name)}`, await gzipJson({ name }));
  }

  async #read(key: string): Promise<LocalExecution> {
    const bytes = await this.#objects.get(key);
    if (bytes === null) throw new ResultConflictError(`the record ${key} of an execution is gone`);
    const { name, input }: { name: string; input: unknown } = JSON.parse(
      await gunzipText(bytes, MAX_INPUT_BYTES),
    );
    return { name, input: workflowInputSchema.parse(input) };
  }
}
