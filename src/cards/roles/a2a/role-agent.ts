import { defineOptionNames, omitUndefined } from "../../../base/usage-checks/index.ts";
import type {
  Agent,
  AgentDescription,
  AgentEvent,
  Caller,
  Run,
  SessionStore,
} from "../../../engine/index.ts";
import { A2AError, type JsonObject, type Message, type Task, getText } from "../../../protocol/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_MEDIA_TYPE,
  createMessageCardExtension,
  type CardA2ARequestInfo,
  type ControlCard,
  CONTROLLER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  type CardRelayAndTraceMetadata,
  decodeCardRelayAndTraceMetadata,
  isTraceparent,
} from "../../index.ts";
import type { RoleModel } from "../role-model.ts";
import type { Role } from "../role.ts";
import { buildInReplyToMetadata, CardJournal } from "./card-journal.ts";
import { DurableTurn } from "./durable-turn.ts";
import { type OpenQuery, type RequestState, RoleExecution } from "./role-execution.ts";
import {
  CardEventEncoder,
  findReadableCard,
  parseAnswerCard,
  parseControlCard,
  parseRequestCard,
  requireValidRequestCard,
  shouldReplyInCards,
  type AnyCardProtocol,
  createRoleRuntime,
  formatError,
  isControlCard,
  type RoleRuntime,
  type RoleRuntimeOptions,
  toCancellationAbortReason,
} from "./role-runtime.ts";

/** Options for `createRoleAgent`. */
export interface RoleAgentOptions extends RoleRuntimeOptions {
  /** Model that the role calls. Default: none. If the role has no model, its model calls fail. */
  readonly model?: RoleModel;
  /**
   * Whether clients must support message cards. If `requireCards` is `false`, the agent also accepts plain
   * text as a task and replies with plain text. Default: `false`.
   */
  readonly requireCards?: boolean;
}

const assertKnownOptions = defineOptionNames<RoleAgentOptions>()(
  "createRoleAgent",
  "clock connectOptions deadlineMs graceMs model newId observer protocol recorder requireCards roleTargets",
);

/**
 * Creates an A2A agent from a role. The agent accepts a task as a message card or as plain text. The agent
 * answers a message card with a message card, and plain text with plain text.
 */
export function createRoleAgent(role: Role, options: RoleAgentOptions = {}): Agent {
  assertKnownOptions(options);
  return new RoleAgent(role, options);
}

/** A task that the role is working on, or whose waiting execution has ended. */
interface RunningExecution {
  readonly execution?: RoleExecution;
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  readonly transport: CardA2ARequestInfo;
}

class RoleAgent implements Agent {
  // A later attempt receives the control cards of the earlier attempts in `run.task`.
  readonly afterRestart = "resume";
  readonly #role: Role;
  readonly #runtime: RoleRuntime;
  readonly #options: RoleAgentOptions;
  /** Running executions by task id. Tasks that wait for an answer have none. */
  readonly #executions = new Map<string, RunningExecution>();
  #store: SessionStore | undefined;

  constructor(role: Role, options: RoleAgentOptions) {
    this.#role = role;
    this.#options = options;
    this.#runtime = createRoleRuntime(role.name, options);
  }

  useStore(store: SessionStore): void {
    this.#store = store;
  }

  describe(): AgentDescription {
    const { name, description } = this.#role;
    const { protocol } = this.#runtime;
    const accepts = listCardTypesForRole(protocol, "to", name);
    const emits = listCardTypesForRole(protocol, "from", name);
    const params = { role: name, accepts, emits, relay: ["none", "full"] as const };
    const { requireCards = false } = this.#options;
    return {
      name,
      description,
      defaultInputModes: ["text/plain", "application/json", MESSAGE_CARD_MEDIA_TYPE],
      defaultOutputModes: ["text/plain", MESSAGE_CARD_MEDIA_TYPE],
      skills: [{ id: name, name, description, tags: ["cards", name] }],
      capabilities: { streaming: true, extensions: [createMessageCardExtension(params, requireCards)] },
    };
  }

  async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const turn = new DurableTurn(run, this.#runtime.clock, this.#store);
    const {
      usesCards,
      routingMetadata,
      card: query,
    } = (turn.question ?? {
      usesCards: shouldReplyInCards(run),
      routingMetadata: extractCardRoutingMetadataFromRun(run),
    }) as unknown as RequestState & Partial<OpenQuery>;
    const [request = run.message] = run.task.history ?? [];
    const { traceparent } = routingMetadata;
    const transport = { task_id: run.taskId, context_id: run.contextId, ...omitUndefined({ traceparent }) };
    const replyEncoder = new CardEventEncoder(usesCards);
    let card: MessageCard | undefined;
    try {
      card = parseRequestCard(request, this.#role.name, this.#runtime.protocol);
      const requestCard = requireValidRequestCard(
        card,
        this.#role.name,
        this.#runtime.protocol,
        routingMetadata.hops,
      );
      const onCard = (card: MessageCard): void =>
        turn.emit(replyEncoder.encodeStatus("TASK_STATE_WORKING", card));
      const listener = routingMetadata.relay === "full" && usesCards ? { onCard } : undefined;
      const journal = new CardJournal(this.#runtime, requestCard, routingMetadata, listener);
      const answer = query && this.#findAnswer(run, query, requestCard, journal, transport);
      if (query && !answer) {
        yield replyEncoder.encodeStatus("TASK_STATE_INPUT_REQUIRED", query);
        return;
      }
      const execution = new RoleExecution({
        role: this.#role,
        requestCard,
        journal,
        turn,
        requestTransport: transport,
        requestState: { usesCards, routingMetadata },
        replyEncoder,
        answer: answer === "stop" ? undefined : answer,
      });
      this.#executions.set(run.taskId, { execution, requestCard, journal, transport });
      yield { status: { state: "TASK_STATE_WORKING" } };
      yield* turn.stream(
        () => execution.execute(),
        (reason) => {
          if (isControlCard(reason) && !execution.signal.aborted) journal.record(reason, transport, false);
          execution.stop(reason);
        },
      );
    } catch (error) {
      if (!(error instanceof A2AError) || this.#executions.has(run.taskId)) throw error;
      yield this.#rejectMessage(transport, replyEncoder, card, routingMetadata, formatError(error));
    } finally {
      this.#executions.delete(run.taskId);
    }
  }

  /** Records the control card that cancels a task which waits for an answer. */
  onTaskCanceled(task: Task, _caller: Caller, metadata: JsonObject): void {
    const card = toCancellationAbortReason(metadata);
    const [request] = task.history ?? [];
    if (!isControlCard(card) || !request) return;
    const routingMetadata = decodeCardRelayAndTraceMetadata(request.metadata);
    const journal = new CardJournal(this.#runtime, findReadableCard(request), routingMetadata);
    journal.record(card, { task_id: task.id, context_id: task.contextId }, false);
  }

  deliver(message: Message, { id }: Task): boolean {
    const running = this.#executions.get(id);
    return running !== undefined && this.#findControlCard(message, running) !== undefined;
  }

  /** Records and applies the control card in a message to a running or waiting task, if the message contains one. */
  #findControlCard(
    message: Message,
    { execution, requestCard, journal, transport }: RunningExecution,
  ): ControlCard | undefined {
    const card = parseControlCard(message, requestCard, this.#runtime.protocol);
    if (!card) return undefined;
    journal.record(card, transport, false);
    execution?.applyControlCard(card);
    return card;
  }

  /**
   * Returns the answer to a query from the message of a turn, `stop` if the message stops the task, or `undefined` if
   * the task continues to wait. An invalid answer leaves the query open.
   */
  #findAnswer(
    { message, taskId }: Run,
    query: QueryCard,
    requestCard: TaskCard | QueryCard,
    journal: CardJournal,
    transport: CardA2ARequestInfo,
  ): ResultCard | "stop" | undefined {
    const { protocol, observer } = this.#runtime;
    try {
      const control = this.#findControlCard(message, { requestCard, journal, transport });
      if (control) return control.content === "stop" ? "stop" : undefined;
      return (
        parseAnswerCard(message, query, protocol) ??
        createAnswerCardFromText(getText(message.parts), query, journal)
      );
    } catch (error) {
      observer.onError?.({ where: this.#role.name, error, taskId });
      return undefined;
    }
  }

  /**
   * Creates the event that rejects an A2A message. If the message card was unreadable, the rejection also
   * contains the reason.
   */
  #rejectMessage(
    transport: CardA2ARequestInfo,
    replyEncoder: CardEventEncoder,
    card: MessageCard | undefined,
    routingMetadata: CardRelayAndTraceMetadata,
    reason: string,
  ): AgentEvent {
    const journal = new CardJournal(this.#runtime, card, routingMetadata);
    if (card) journal.record(card, transport, false);
    const metadata = { error_type: "protocol_violation", ...buildInReplyToMetadata(card) };
    const refusal = journal.createCard("error", card?.sender ?? CONTROLLER, `Rejected: ${reason}`, metadata);
    journal.record(refusal, transport, false);
    return replyEncoder.encodeStatus("TASK_STATE_REJECTED", refusal);
  }
}

/**
 * Creates the result card for a plain text answer. If the text equals one of the query options, the metadata
 * member `selected` contains the option.
 */
function createAnswerCardFromText(text: string, query: QueryCard, journal: CardJournal): ResultCard {
  const { options = [], card_id } = query.metadata;
  const matchesText = (option: string): boolean => option.trim().toLowerCase() === text.trim().toLowerCase();
  const metadata = {
    ...omitUndefined({ in_reply_to: card_id, selected: options.find(matchesText) }),
    status: "success",
  };
  return journal.createCardOnBehalfOf(query.recipient, "result", text, metadata);
}

/**
 * Returns the routing data of the message card for an agent run. If the metadata contains no trace, the
 * routing data uses the `traceparent` header.
 */
function extractCardRoutingMetadataFromRun({
  message,
  metadata,
  traceparent,
}: Run): CardRelayAndTraceMetadata {
  const routingMetadata = decodeCardRelayAndTraceMetadata(message.metadata, metadata);
  return isTraceparent(traceparent) ? { traceparent, ...routingMetadata } : routingMetadata;
}

/** Returns the types of message cards that a role may send (`from`) or receive (`to`). */
function listCardTypesForRole({ routes }: AnyCardProtocol, end: "from" | "to", role: string): string[] {
  return [...new Set(routes.flatMap((route) => (route[end] === role ? route.types : [])))];
}
