import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Scene } from '../cel/evaluate.ts';
import { EvaluationFault, type Meter } from '../cel/meter.ts';
import { Patterns } from '../cel/patterns.ts';
import type { Value, ValueMap } from '../cel/values.ts';
import { validatorOf } from '../checks/json-schema.ts';
import { failureOf } from '../trajectory/exchanges.ts';
import { parseResult } from '../trajectory/result-values.ts';
import type { Step, ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { agentSpeech, readUtterances } from '../trajectory/utterances.ts';
import { valueSourcesOf } from '../trajectory/value-sources.ts';
import { callFunction, type FunctionContext } from './functions.ts';
import type { Scope } from './language.ts';

/** One place where a constraint is asked: a call, a step, or the session at its last step. */
export interface Place {
  readonly step: Step;
  readonly exchange: ToolExchange | null;
  readonly variables: ValueMap;
}

/** The session as expressions see it. Built once; what is costly is made when first asked for. */
export interface View {
  readonly trajectory: Trajectory;
  places(scope: Scope): readonly Place[];
  scene(place: Place, meter: Meter): Scene;
}

const lazily = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

export function makeView(trajectory: Trajectory): View {
  const exchangeByCall = new WeakMap<ValueMap, ToolExchange>();
  const callValues = trajectory.exchanges.map((exchange) => {
    const value = callValue(exchange, trajectory);
    exchangeByCall.set(value, exchange);
    return value;
  });
  const asking = Map.groupBy(callValues, (_, at) => trajectory.exchanges[at]?.callStep ?? -1);
  const answering = Map.groupBy(callValues, (_, at) => trajectory.exchanges[at]?.resultStep ?? -1);
  const stepValues = trajectory.steps.map((step) =>
    stepValue(
      step,
      step.index === trajectory.steps.length - 1,
      asking.get(step.index) ?? [],
      answering.get(step.index) ?? [],
    ),
  );
  const patterns = new Patterns();
  const turns = readUtterances(trajectory)
    .filter((utterance) => utterance.voice === 'human' && utterance.text.trim() !== '')
    .map((utterance) => ({ step: utterance.step.index, text: utterance.text }));
  const turnTexts = turns.map((turn) => turn.text);
  const turnsBefore = (step: number): readonly string[] =>
    turnTexts.slice(0, turns.findLastIndex((turn) => turn.step < step) + 1);
  const schemas = new Map(trajectory.tools.map((tool) => [tool.name, tool.parameters]));
  const validated = new Map<ToolExchange, readonly string[] | EvaluationFault | null>();
  const errorsOf = (exchange: ToolExchange): readonly string[] | null => {
    const known = validated.get(exchange);
    const found = known === undefined ? schemaErrors(exchange, schemas) : known;
    validated.set(exchange, found);
    if (found instanceof EvaluationFault) throw found;
    return found;
  };
  const toolNames = new Set(trajectory.tools.map((tool) => tool.name));
  const standing = {
    goal: trajectory.goal ?? turns[0]?.text ?? '',
    policy: trajectory.systemPrompt ?? '',
    tools: [...toolNames],
  };

  // Calls in the order they were asked, so that "prior" is a prefix.
  const order = trajectory.exchanges
    .map((exchange, at) => ({ exchange, value: callValues[at] }))
    .flatMap(({ exchange, value }) => (value === undefined ? [] : [{ exchange, value }]))
    .sort((a, b) => a.exchange.callStep - b.exchange.callStep);
  const orderedCalls = order.map((entry) => entry.value);

  /**
   * What had happened by a step: `asked` calls, the steps and user turns before it. The lists are made at each
   * asking and not kept: kept for every place, they would need the square of the session's length.
   */
  const sceneAt = (step: Step, asked: number) => ({
    session: standing,
    step: stepValues[step.index] ?? null,
    get earlier() {
      return stepValues.slice(0, step.index);
    },
    get prior() {
      return orderedCalls.slice(0, asked);
    },
    get userTurns() {
      return turnsBefore(step.index);
    },
  });

  const makePlaces: { readonly [scope in Scope]: () => readonly Place[] } = {
    call: lazily(() =>
      order.flatMap(({ exchange, value }, asked): readonly Place[] => {
        const step = trajectory.steps[exchange.callStep];
        if (step === undefined) return [];
        const variables = Object.defineProperty(sceneAt(step, asked), 'call', { value, enumerable: true });
        return [{ step, exchange, variables }];
      }),
    ),
    step: lazily(() => {
      let asked = 0;
      return trajectory.steps.map((step): Place => {
        while ((order[asked]?.exchange.callStep ?? Number.POSITIVE_INFINITY) < step.index) asked += 1;
        return { step, exchange: null, variables: sceneAt(step, asked) };
      });
    }),
    session: lazily(() => {
      const step = trajectory.steps.at(-1);
      if (step === undefined) return [];
      const whole = {
        ...standing,
        steps: trajectory.steps.length,
        answer: agentSpeech(trajectory).at(-1)?.text ?? '',
        calls: callValues,
      };
      const variables = { session: whole, userTurns: turnTexts };
      return [{ step, exchange: null, variables }];
    }),
  };

  return {
    trajectory,
    places: (scope) => makePlaces[scope](),
    scene(place, meter) {
      const context = contextAt(place, meter);
      const { variables } = place;
      return { variables, meter, patterns, call: (name, args) => callFunction(name, args, context) };
    },
  };

  function contextAt(place: Place, meter: Meter): FunctionContext {
    return {
      meter,
      get sources() {
        return valueSourcesOf(trajectory);
      },
      now: 'step' in place.variables ? place.step.index : trajectory.steps.length,
      exchangeOf: (call) => exchangeByCall.get(call) ?? null,
      schemaErrors: errorsOf,
      toolNames,
      userTurnsBefore: turnsBefore,
    };
  }
}

function schemaErrors(
  exchange: ToolExchange,
  schemas: ReadonlyMap<string, JsonValue | undefined>,
): readonly string[] | EvaluationFault | null {
  const schema = schemas.get(exchange.name);
  if (schema === undefined) return null;
  const validate = validatorOf(schema);
  if ('unusable' in validate) return null;
  try {
    return validate(exchange.arguments).map((problem) => `${problem.path} ${problem.message}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new EvaluationFault('unknown', `the schema of '${exchange.name}' could not be used: ${reason}`);
  }
}

function callValue(exchange: ToolExchange, trajectory: Trajectory): ValueMap {
  const result = exchange.result ?? '';
  // CEL has no undefined: `call.json == null` asks whether a result is prose.
  const parsed = lazily((): Value => parseResult(result) ?? null);
  return {
    id: exchange.toolCallId ?? '',
    name: exchange.name,
    args: isJsonObject(exchange.arguments) ? exchange.arguments : {},
    step: exchange.callStep,
    agent: trajectory.steps[exchange.callStep]?.agent ?? '',
    result,
    hasResult: exchange.result !== null,
    get json() {
      return parsed();
    },
    failed: failureOf(exchange) !== null,
  };
}

function stepValue(
  step: Step,
  last: boolean,
  calls: readonly ValueMap[],
  results: readonly ValueMap[],
): ValueMap {
  const said = lazily(() => stepText(step));
  return {
    index: step.index,
    position: step.position,
    kind: step.kind,
    role: step.parts[0]?.role ?? '',
    agent: step.agent ?? '',
    get text() {
      return said();
    },
    calls,
    results,
    first: step.index === 0,
    last,
  };
}

/** What is said or returned at a step, without reasoning and calls. */
export function stepText(step: Step): string {
  return step.parts
    .map(({ block }) =>
      block.type === 'text' ? block.text : block.type === 'tool_result' ? block.content : '',
    )
    .filter((text) => text !== '')
    .join('\n');
}
