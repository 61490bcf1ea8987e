/** Two servers on one PostgreSQL database, for tests of several nodes. */
import { connect, type A2AClient } from "../../../src/client/index.ts";
import { ScriptedAgent, type ScriptedRun } from "../../../src/engine/engine.fixture.ts";
import type { AgentEvent, Caller, Run } from "../../../src/engine/index.ts";
import type { Message, StreamResponse, Task } from "../../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/index.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../../src/stores/index.ts";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";

type ScriptedAgentOptions = NonNullable<ConstructorParameters<typeof ScriptedAgent>[0]>;

/** Behavior of the agents of both nodes towards messages to a running turn. */
export interface NodeAgentOptions extends ScriptedAgentOptions {
  readonly interruptible?: boolean;
  /** True if the agent accepts messages while it works. */
  readonly delivers?: boolean;
}

/** An agent whose events the test emits, and that records the messages that it receives while it works. */
export class NodeTestAgent extends ScriptedAgent {
  readonly interruptible: boolean;
  /** Emits the events of each run as soon as the run starts. */
  answersAtOnce: (run: ScriptedRun) => void = () => {};
  readonly delivered: { readonly message: Message; readonly caller: Caller }[] = [];
  readonly deliver?: (message: Message, task: Task, caller: Caller) => boolean;

  override execute(run: Run): AsyncIterable<AgentEvent> {
    const events = super.execute(run);
    this.answersAtOnce(this.runs.at(-1) as ScriptedRun);
    return events;
  }

  constructor({ interruptible = false, delivers = false, ...options }: NodeAgentOptions) {
    super(options);
    this.interruptible = interruptible;
    if (delivers)
      this.deliver = (message, _task, caller) => {
        this.delivered.push({ message, caller });
        return true;
      };
  }
}

/** One server with its agent and a client. */
export interface TestNode {
  readonly agent: NodeTestAgent;
  readonly agentUrl: string;
  readonly store: PostgresStore;
  readonly client: A2AClient;
  readonly server: Server;
  readonly errors: unknown[];
}

export async function startTestNode(
  url: string,
  agentOptions: NodeAgentOptions = {},
  storeOptions: PostgresStoreOptions = {},
  serverOptions: ServerOptions = {},
): Promise<TestNode> {
  const agent = new NodeTestAgent(agentOptions);
  const store = new PostgresStore(url, { leaseMs: 6000, poolSize: 4, ...storeOptions });
  const errors: unknown[] = [];
  const observer = { onError: ({ error }: { error: unknown }) => errors.push(error) };
  const server = createServer({ puppet: agent }, { store, observer, cancelGraceMs: 1000, ...serverOptions });
  const { agents } = await server.listen();
  const agentUrl = agents[0]?.url as string;
  return { agent, agentUrl, store, server, errors, client: await connect(agentUrl) };
}

/** Makes a node stop to renew its leases, and ends them as if another node had watched it. Its agents continue to work. */
export async function loseNode(url: string, { store }: Pick<TestNode, "store">): Promise<void> {
  store.turns.renew = () => new Promise(() => {});
  await runTestSql(url, `DELETE FROM colloquy.node WHERE id IN (SELECT lease_node FROM colloquy.task)`);
}

/** Collects the events of a stream in the background. */
export class StreamRecorder {
  readonly events: StreamResponse[] = [];
  readonly ended: Promise<void>;
  #wake: () => void = () => {};

  constructor(stream: AsyncIterable<StreamResponse>) {
    this.ended = this.#read(stream);
    this.ended.catch(() => {});
  }

  /** Resolves with the events of the stream, once the stream has `count` events. */
  async waitForEvents(count: number): Promise<StreamResponse[]> {
    while (this.events.length < count) {
      const next = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([next, this.ended.then(() => this.#requireEvents(count))]);
    }
    return this.events;
  }

  #requireEvents(count: number): void {
    const { length } = this.events;
    if (length < count) throw new Error(`the stream ended after ${length} of ${count} events`);
  }

  async #read(stream: AsyncIterable<StreamResponse>): Promise<void> {
    for await (const event of stream) {
      this.events.push(event);
      this.#wake();
    }
  }
}

/** Makes a run end when its agent is aborted. */
export const endOnAbort = (run: ScriptedRun): ScriptedRun => {
  if (run.run.signal.aborted) run.end();
  run.run.signal.addEventListener("abort", () => run.end());
  return run;
};
