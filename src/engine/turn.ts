import type {
  JsonObject,
  Message,
  SendMessageConfiguration,
  SendMessageRequest,
  Task,
  TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { ArtifactRestart } from "./artifact-restart.ts";
import type { Caller } from "./caller.ts";
import type { ServiceParameters } from "./service-parameters.ts";

/** An agent at work: what it says, and what it has said already when it began before its task did. */
export interface AgentOutput {
  readonly iterator: AsyncIterator<AgentEvent>;
  readonly firstResult?: IteratorResult<AgentEvent>;
}

/** One message to a task and all that the agent does because of it. */
export class Turn {
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
  /** What the agent may see of the caller's other tasks. */
  readonly relatedTasks: Pick<Run, "loadReferencedTasks" | "listInterruptedTasks">;
  /** The caller's message as it stands in the task. */
  readonly message: Message;
  /** Resolves with the message's seq once that is durable: from here on nothing is lost. */
  readonly acceptedSeq: Deferred<number> = new Deferred();
  /** Resolves with the task at the first committed status that ends or interrupts the turn. */
  readonly stoppedTask: Deferred<Task> = new Deferred();
  /** The task as this turn found it, and the seq of the turn's message. */
  startPoint: { readonly task: Task; readonly seq: number } | undefined;
  /** The newest state that the agent moved the task to in this turn. */
  lastState: TaskState | undefined;
  /** The metadata of the request that the task be canceled, once there is one. */
  cancelMetadata: JsonObject | undefined;
  /** Why the server stopped the agent. */
  stopReason: string | undefined;
  /** What the agent says of artifacts, when an earlier attempt may have said some of it. */
  artifactRestart: ArtifactRestart | undefined;
  /** How often an agent has begun with this turn, this time included. */
  readonly attempt: number;
  /** Nothing that the agent says counts any more. */
  isFenced = false;
  #hasEnded = false;
  /** Made when an agent asks for it: it costs more than the rest of a short turn. */
  #abortController: AbortController | undefined;
  #endCallbacks: (() => void)[] = [];

  constructor(
    request: SendMessageRequest,
    message: Message,
    caller: Caller,
    service: ServiceParameters,
    others: Turn["relatedTasks"],
    attempt = 1,
  ) {
    this.request = request;
    this.message = message;
    this.caller = caller;
    this.serviceParameters = service;
    this.relatedTasks = others;
    this.attempt = attempt;
  }

  /** The agent is done, or cut off. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get signal(): AbortSignal {
    return (this.#abortController ??= new AbortController()).signal;
  }

  abort(reason: string): void {
    this.#abortController ??= new AbortController();
    this.#abortController.abort(new DOMException(reason, "AbortError"));
  }

  /** Sets the agent to work on `task`, the task as this turn finds it. */
  startAgent(agent: Agent, task: Task): AgentOutput {
    const said = agent.execute(new TurnRun(this, task));
    return {
      iterator: (this.serviceParameters.needsTask ? withRepliesAsStatus(said) : said)[Symbol.asyncIterator](),
    };
  }

  /** Calls back when the turn ends. */
  onEnd(callback: () => void): void {
    if (this.#hasEnded) callback();
    else this.#endCallbacks.push(callback);
  }

  end(): void {
    this.#hasEnded = true;
    for (const callback of this.#endCallbacks.splice(0)) callback();
  }

  /** Ends a turn that cannot be, or whose events cannot be stored. */
  fail(error: unknown): void {
    this.isFenced = true;
    this.acceptedSeq.reject(error);
    this.stoppedTask.reject(error);
    this.end();
  }
}

/** An answer without a task, as the message that completes one. */
async function* withRepliesAsStatus(said: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  for await (const event of said) {
    const isReply = typeof event === "object" && event !== null && "message" in event;
    yield isReply ? { status: { state: "TASK_STATE_COMPLETED", message: event.message } } : event;
  }
}

/** What the agent sees of its turn. */
class TurnRun implements Run {
  readonly taskId: string;
  readonly contextId: string;
  readonly message: Message;
  readonly task: Task;
  readonly attempt: number;
  readonly caller: Caller;
  readonly configuration: SendMessageConfiguration;
  readonly metadata: JsonObject;
  readonly protocolVersion: string;
  readonly extensions: readonly string[];
  readonly #turn: Turn;

  constructor(turn: Turn, task: Task) {
    this.#turn = turn;
    this.taskId = task.id;
    this.contextId = task.contextId;
    this.message = turn.message;
    this.task = task;
    this.attempt = turn.attempt;
    this.caller = turn.caller;
    this.configuration = turn.request.configuration ?? {};
    this.metadata = turn.request.metadata ?? {};
    this.protocolVersion = turn.serviceParameters.version ?? "1.0";
    this.extensions = turn.serviceParameters.extensions ?? [];
  }

  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  get traceparent(): string | undefined {
    return this.#turn.serviceParameters.traceparent;
  }

  get cancelMetadata(): JsonObject | undefined {
    return this.#turn.cancelMetadata;
  }

  loadReferencedTasks(): Promise<Task[]> {
    return this.#turn.relatedTasks.loadReferencedTasks();
  }

  listInterruptedTasks(): Promise<Task[]> {
    return this.#turn.relatedTasks.listInterruptedTasks();
  }
}
