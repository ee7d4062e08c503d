import type { JsonValue } from '../../core/base/json.ts';
import type { Model, ModelRequest } from '../../core/model/port.ts';
import { CHECKLIST } from '../../core/prompting/critical-checklist.ts';

/** Shorter texts ("4", "WebSurfer") stand in honest prompts all the time and prove nothing. */
const TELLING_LENGTH = 24;

/** Every judge prompt lists the ten category names, whichever of them is the label: they tell nothing. */
const VOCABULARY: ReadonlySet<string> = new Set(CHECKLIST.map(({ name }) => name));

/**
 * The answers that would betray a label if they turned up: long enough to be no coincidence, and not said in the
 * session itself (an agent may well have found the right answer).
 */
export function tellingAnswers(answers: readonly string[], session: JsonValue | object): string[] {
  const said = JSON.stringify(session);
  return [...new Set(answers)].filter(
    (text) =>
      text.length >= TELLING_LENGTH &&
      !VOCABULARY.has(text) &&
      !said.includes(JSON.stringify(text).slice(1, -1)),
  );
}

/** Which of the answers stand in the request. */
export function leaksIn(request: ModelRequest, answers: readonly string[]): string[] {
  const prompt = [request.system ?? '', ...request.user.map((part) => part.text)].join('\n');
  return answers.filter((answer) => prompt.includes(answer));
}

/** A model that refuses, with a plain Error that ends the benchmark, a prompt in which an answer stands. */
export function guardedModel(model: Model, answers: readonly string[]): Model {
  return {
    spec: model.spec,
    limits: model.limits,
    ask(request) {
      const [leak] = leaksIn(request, answers);
      if (leak !== undefined) {
        throw new Error(
          `leak guard: a label stands in the ${request.purpose} prompt ("${leak.slice(0, 60)}…"). ` +
            'The figures of this run would be worthless; a loader or format must strip the field it comes from.',
        );
      }
      return model.ask(request);
    },
  };
}
