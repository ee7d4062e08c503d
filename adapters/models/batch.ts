import path from 'node:path';
import { ModelPendingError } from '../../core/errors/errors.ts';
import { findCapabilities, limitsOf, UNNAMED_MODEL } from '../../core/model/capabilities.ts';
import { classifyModelFault } from '../../core/model/classify-model-fault.ts';
import type { Model, ModelAnswer } from '../../core/model/port.ts';
import { priceUsage } from '../../core/model/price-usage.ts';
import { acceptCompletion, readCompletion } from '../../core/model/read-completion.ts';
import { hashBody, writeConverseBody } from '../../core/model/request-body.ts';
import { openRequests } from './batch-requests.ts';
import { type BatchRecord, openResponses } from './batch-responses.ts';

/**
 * A model that is asked through files, in the form of a Bedrock batch inference job: each request not yet answered
 * stands once in `<dir>/requests.jsonl` as `{recordId, modelInput}`, and `<dir>/responses.jsonl` holds the answers,
 * in any order, as `{recordId, modelOutput}` or `{recordId, error: {errorCode, errorMessage}}`. Lines of other
 * record ids are left alone. Where a record was answered several times the first usable line counts, so an error is
 * overcome by adding an answer.
 *
 * Rejects with ModelPendingError while there is no answer, and with the named error of an error record.
 */
export function batchModel(spec: string, dir: string): Model {
  const requests = openRequests(path.join(dir, 'requests.jsonl'));
  const responses = openResponses(path.join(dir, 'responses.jsonl'));
  return {
    spec,
    limits: limitsOf(UNNAMED_MODEL),
    async ask(request) {
      const body = writeConverseBody(request);
      const hash = hashBody(body);
      const found = await responses.find(hash);
      if (found !== null) return readRecord(found, hash, dir);
      await requests.add(hash, body);
      throw new ModelPendingError(
        `request ${hash} (${request.purpose}) waits in ${requests.file}; put its answer into ${responses.file} and run again${responses.complaint()}`,
        [hash],
      );
    },
  };
}

function readRecord(record: BatchRecord, hash: string, dir: string): ModelAnswer {
  if (record.error !== undefined) {
    const { errorCode, errorMessage } = record.error;
    const status = Number(errorCode);
    throw classifyModelFault({
      name: String(errorCode ?? ''),
      status: Number.isInteger(status) ? status : undefined,
      message: `batch record ${hash} in ${dir}: ${errorMessage ?? 'no message'}; add an answer for it to responses.jsonl to go on`,
    });
  }
  const completion = readCompletion(record.modelOutput);
  const capabilities = findCapabilities(completion.model ?? '');
  return acceptCompletion(completion, {
    usage: priceUsage(completion.tokens, capabilities, 'batch'),
    model: completion.model ?? 'batch',
    outputMode: 'text',
    requestHash: hash,
    cached: false,
    durationMs: 0,
  });
}
