import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { canonicalJson } from '../../core/base/hash.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type { WorkflowStarter } from '../../core/ports/ingest-ports.ts';
import type { WorkflowInput } from '../../core/ports/workflow.ts';

/**
 * Starts executions by derived name. While one with the same name and input runs, AWS answers 200; once it is
 * closed, ExecutionAlreadyExists for 90 days, also when the input is another: so the input is compared.
 */
export class SfnWorkflowStarter implements WorkflowStarter {
  readonly #client: SFNClient;
  readonly #stateMachineArn: string;

  constructor(client: SFNClient, stateMachineArn: string) {
    this.#client = client;
    this.#stateMachineArn = stateMachineArn;
  }

  async running(): Promise<number> {
    const { executions = [] } = await this.#client.send(
      new ListExecutionsCommand({
        stateMachineArn: this.#stateMachineArn,
        statusFilter: 'RUNNING',
        maxResults: 1000,
      }),
    );
    return executions.length;
  }

  async start(name: string, input: WorkflowInput): Promise<'started' | 'exists'> {
    const text = canonicalJson(input);
    try {
      await this.#client.send(
        new StartExecutionCommand({ stateMachineArn: this.#stateMachineArn, name, input: text }),
      );
      return 'started';
    } catch (error) {
      if (!(error instanceof ExecutionAlreadyExists)) throw error;
      const executionArn = `${this.#stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
      const old = await this.#client.send(new DescribeExecutionCommand({ executionArn }));
      if (old.input !== undefined && canonicalJson(JSON.parse(old.input)) === text) return 'exists';
      throw new ResultConflictError(
        `execution ${name} exists with another input; settings of the agent may have changed since: ` +
          'redrive the old one, or diagnose the frozen session by hand with `rootspan diagnose`',
        { cause: error },
      );
    }
  }
}
