import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../../../engine/index.ts";
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
} from "../../index.ts";
import {
  findCardInCancelMetadata,
  type CardRelayAndTraceMetadata,
  decodeCardRelayAndTraceMetadata,
  isTraceparent,
} from "../../index.ts";
import type { RoleModel } from "../role-model.ts";
import type { Role } from "../role.ts";
import { buildInReplyToMetadata, CardJournal } from "./card-journal.ts";
import { RoleExecution } from "./role-execution.ts";
import {
  parseAnswerCard,
  parseRequestCard,
  findReadableCard,
  requireValidRequestCard,
  parseControlCard,
  shouldReplyInCards,
} from "./incoming-card.ts";
import {
  type AnyCardProtocol,
  type RoleRuntime,
  type RoleRuntimeOptions,
  createRoleRuntime,
} from "./role-runtime.ts";
import { ResumableWork } from "./resumable-work.ts";
import { ResumableWorkRegistry, type WaitingTaskLimits } from "./resumable-work-registry.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { formatError } from "./format-error.ts";
import { isControlCard, ServerClosingError } from "./stop-reason.ts";
import { type CardEventEncoder, createCardEventEncoder } from "./card-event-encoder.ts";

/** Options for `createRoleAgent`. */
export interface RoleAgentOptions extends RoleRuntimeOptions, WaitingTaskLimits {
  /** Model that the role calls. Default: none. If the role has no model, its model calls fail. */
  readonly model?: RoleModel;
  /**
   * Whether clients must support message cards. If `requireCards` is `false`, the agent also accepts plain
   * text as a task and replies with plain text. Default: `false`.
   */
  readonly requireCards?: boolean;
  /** Additional members of the A2A agent card. */
  readonly agentCard?: Partial<
    Pick<AgentDescription, "name" | "version" | "provider" | "documentationUrl" | "iconUrl">
  >;
}

const assertKnownOptions = defineOptionNames<RoleAgentOptions>()(
  "createRoleAgent",
  "agentCard answerTimeoutMs clock connectOptions deadlineMs graceMs maxWaitingTasks model newId",
  "observer protocol recorder requireCards roleTargets",
);

/**
 * Creates an A2A agent from a role. The agent accepts a task as a message card or as plain text. The agent
 * answers a message card with a message card, and plain text with plain text.
 */
export function createRoleAgent(role: Role, options: RoleAgentOptions = {}): Agent {
  assertKnownOptions(options);
  return new RoleAgent(role, options);
}

/** A task that the role is working on. */
interface ActiveRoleTask {
  readonly work: ResumableWork<ResultCard>;
  readonly execution: RoleExecution;
  readonly journal: CardJournal;
  readonly replyEncoder: CardEventEncoder;
  readonly requestCard: TaskCard | QueryCard;
  readonly requestTransport: CardA2ARequestInfo;
  /** The role's unanswered query to the requester. */
  openQuery: QueryCard | undefined;
}

class RoleAgent implements Agent {
  readonly #role: Role;
  readonly #runtime: RoleRuntime;
  readonly #options: RoleAgentOptions;
  readonly #activeTasks: ResumableWorkRegistry<ResultCard, ActiveRoleTask>;

  constructor(role: Role, options: RoleAgentOptions) {
    this.#role = role;
    this.#options = options;
    this.#runtime = createRoleRuntime(role.name, options);
    this.#activeTasks = new ResumableWorkRegistry(this.#runtime.clock, options);
  }

  describe(): AgentDescription {
    const { name, description } = this.#role;
    const { protocol } = this.#runtime;
    const accepts = listCardTypesForRole(protocol, "to", name);
    const emits = listCardTypesForRole(protocol, "from", name);
    const params = { role: name, accepts, emits, relay: ["none", "full"] as const };
    const { requireCards = false, agentCard } = this.#options;
    return {
      name,
      description,
      version: "1.0.0",
      defaultInputModes: ["text/plain", "application/json", MESSAGE_CARD_MEDIA_TYPE],
      defaultOutputModes: ["text/plain", MESSAGE_CARD_MEDIA_TYPE],
      skills: [{ id: name, name, description, tags: ["cards", name] }],
      capabilities: { streaming: true, extensions: [createMessageCardExtension(params, requireCards)] },
      ...agentCard,
    };
  }

  async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const known = this.#activeTasks.find(run.taskId);
    const result = known ? this.#resumeTask(known, run) : this.#acceptOrReject(run);
    if (!("work" in result)) {
      yield result;
      return;
    }
    yield* this.#activeTasks.streamTurnEvents(result, run);
  }

  onTaskCanceled({ id }: Task, _caller: Caller, metadata: JsonObject): void {
    this.#activeTasks.stopAndRemoveWork(id, metadata);
  }

  deliver(message: Message, { id }: Task): boolean {
    const activeTask = this.#activeTasks.find(id);
    const card = activeTask && parseControlCard(message, activeTask.requestCard, this.#runtime.protocol);
    if (card) this.#applyControlCard(activeTask, card, message.messageId);
    return card !== undefined;
  }

  /**
   * Starts work on the message card in an A2A message. If the message card is not acceptable, the agent
   * rejects the message.
   */
  #acceptOrReject(run: Run): ActiveRoleTask | AgentEvent {
    if ((run.task.history?.length ?? 0) > 1) return this.#failLostTask(run);
    const { protocol } = this.#runtime;
    const routingMetadata = extractCardRoutingMetadataFromRun(run);
    let card: MessageCard | undefined;
    try {
      card = parseRequestCard(run.message, this.#role.name, protocol);
      const requestCard = requireValidRequestCard(card, this.#role.name, protocol, routingMetadata.hops);
      const activeTask = this.#createActiveRoleTask(
        requestCard,
        routingMetadata,
        buildCardTransportInfo(run, routingMetadata),
        createCardEventEncoder(shouldReplyInCards(run)),
        run.reportCall,
      );
      this.#activeTasks.register(run.taskId, activeTask);
      void this.#runTask(activeTask);
      return activeTask;
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      return this.#rejectMessage(run, card, routingMetadata, formatError(error));
    }
  }

  /**
   * Creates the event that rejects an A2A message. If the message card was unreadable, the rejection also
   * contains the reason.
   */
  #rejectMessage(
    run: Run,
    card: MessageCard | undefined,
    routingMetadata: CardRelayAndTraceMetadata,
    reason: string,
  ): AgentEvent {
    const journal = new CardJournal(this.#runtime, card, routingMetadata);
    const transport = buildCardTransportInfo(run, routingMetadata);
    if (card) journal.recordReceived(card, transport, false);
    const metadata = { error_type: "protocol_violation", ...buildInReplyToMetadata(card) };
    const refusal = journal.createErrorCard(card?.sender ?? CONTROLLER, `Rejected: ${reason}`, metadata);
    journal.recordSent(refusal, transport, false);
    return createCardEventEncoder(shouldReplyInCards(run)).encodeRejection(refusal);
  }

  #createActiveRoleTask(
    requestCard: TaskCard | QueryCard,
    routingMetadata: CardRelayAndTraceMetadata,
    transport: CardA2ARequestInfo,
    replyEncoder: CardEventEncoder,
    reportCall: Run["reportCall"],
  ): ActiveRoleTask {
    const relays = routingMetadata.relay === "full" && replyEncoder.usesCards;
    const resumableWork: ResumableWork<ResultCard> = new ResumableWork((cancellation) => {
      if (execution.signal.aborted) return;
      const reason = toCancellationAbortReason(cancellation);
      if (isControlCard(reason))
        journal.recordReceived(reason, { ...transport, method: "CancelTask" }, false);
      execution.stop(reason);
    });
    const listener = relays
      ? { onCard: (card: MessageCard): void => resumableWork.emit(replyEncoder.encodeProgress(card)) }
      : undefined;
    const journal = new CardJournal(this.#runtime, requestCard, routingMetadata, listener);
    const requester = {
      notify: (card: MessageCard): void => resumableWork.emit(replyEncoder.encodeProgress(card)),
      sendQuery: (query: QueryCard): Promise<ResultCard> => this.#queryRequester(activeTask, query),
    };
    const execution: RoleExecution = new RoleExecution({
      role: this.#role,
      requestCard,
      journal,
      requestTransport: transport,
      requester,
      reportCall,
    });
    const activeTask: ActiveRoleTask = {
      work: resumableWork,
      execution,
      journal,
      replyEncoder,
      requestCard,
      requestTransport: transport,
      openQuery: undefined,
    };
    journal.recordReceived(requestCard, transport, false);
    resumableWork.emit({ status: { state: "TASK_STATE_WORKING" } });
    return activeTask;
  }

  async #runTask(activeTask: ActiveRoleTask): Promise<void> {
    const { work: resumableWork, execution, journal, replyEncoder, requestTransport } = activeTask;
    const reply = await execution.execute();
    // An abandoned task delivers no reply, so none is recorded.
    if (!resumableWork.isStoppedBeforeReply) journal.recordSent(reply, requestTransport, false);
    for (const event of replyEncoder.encodeFinal(reply, execution.wasStopped)) resumableWork.emit(event);
    this.#activeTasks.endWorkAndScheduleRemoval(requestTransport.task_id ?? "", activeTask);
  }

  async #queryRequester(activeTask: ActiveRoleTask, query: QueryCard): Promise<ResultCard> {
    activeTask.openQuery = query;
    try {
      const question = activeTask.replyEncoder.encodeQuery(query);
      return await this.#activeTasks.askQuestion(
        activeTask.requestTransport.task_id ?? "",
        activeTask,
        question,
        activeTask.execution.signal,
      );
    } finally {
      activeTask.openQuery = undefined;
    }
  }

  /** Handles the next message of a task that waits for an answer. */
  #resumeTask(activeTask: ActiveRoleTask, { message, taskId }: Run): ActiveRoleTask {
    const { work: resumableWork, openQuery, requestCard, journal } = activeTask;
    const { protocol, observer } = this.#runtime;
    try {
      const control = parseControlCard(message, requestCard, protocol);
      if (control) {
        this.#applyControlCard(activeTask, control, message.messageId);
        if (!activeTask.execution.signal.aborted) resumableWork.repeatQuestion();
      } else if (openQuery) {
        resumableWork.resolveQuestion(
          parseAnswerCard(message, openQuery, protocol) ??
            createAnswerCardFromText(getText(message.parts), openQuery, journal),
        );
      }
    } catch (error) {
      // An invalid answer leaves the query open.
      observer.onError?.({ where: this.#role.name, error, taskId });
      resumableWork.repeatQuestion();
    }
    return activeTask;
  }

  #applyControlCard(activeTask: ActiveRoleTask, card: ControlCard, message_id: string): void {
    activeTask.journal.recordReceived(
      card,
      { ...activeTask.requestTransport, method: "SendMessage", message_id },
      false,
    );
    if (card.content === "stop") activeTask.execution.stop(card);
    else activeTask.execution.enqueueControlCard(card);
  }

  /** Ends a waiting task as failed if its work was lost when the previous process ended. */
  #failLostTask(run: Run): AgentEvent {
    const [first = run.message] = run.task.history ?? [];
    const routingMetadata = decodeCardRelayAndTraceMetadata(first.metadata);
    const card = findReadableCard(first);
    const journal = new CardJournal(this.#runtime, card, routingMetadata);
    const text = `The ${this.#role.name} restarted while it waited for this answer and lost the task; send the task again`;
    const metadata = { error_type: "transport_error", retryable: true, ...buildInReplyToMetadata(card) };
    const error = journal.createErrorCard(card?.sender ?? CONTROLLER, text, metadata);
    journal.recordSent(error, buildCardTransportInfo(run, routingMetadata), false);
    return createCardEventEncoder(card !== undefined || shouldReplyInCards(run)).encodeFailure(error);
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

function toCancellationAbortReason(cancellation: JsonObject | undefined): unknown {
  if (!cancellation) return new ServerClosingError("The server closes.");
  const card = findCardInCancelMetadata(cancellation);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
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

function buildCardTransportInfo(
  { taskId, contextId, message }: Run,
  { traceparent }: CardRelayAndTraceMetadata,
): CardA2ARequestInfo {
  return {
    task_id: taskId,
    context_id: contextId,
    message_id: message.messageId,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Returns the types of message cards that a role may send (`from`) or receive (`to`). */
function listCardTypesForRole({ routes }: AnyCardProtocol, end: "from" | "to", role: string): string[] {
  return [...new Set(routes.flatMap((route) => (route[end] === role ? route.types : [])))];
}
