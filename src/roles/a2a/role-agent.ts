import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../../engine/index.ts";
import { A2AError, type JsonObject, type Message, type Task, getText } from "../../protocol/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_MEDIA_TYPE,
  createMessageCardExtension,
  type CardTransportInfo,
  type CardMetadata,
  type ControlCard,
  CONTROLLER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../../cards/index.ts";
import {
  findCardInMetadata,
  type CardEnvelope,
  decodeCardEnvelope,
  isTraceparent,
} from "../../cards/index.ts";
import type { RoleModel } from "../role-model.ts";
import type { Role } from "../role.ts";
import { CardJournal } from "./card-journal.ts";
import { RoleExecution } from "./role-execution.ts";
import {
  parseAnswerCard,
  parseRequestCard,
  findReadableCard,
  requireRequestCard,
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
import { ResumableWorkRegistry, type AnswerWaitLimits } from "./resumable-work-registry.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { formatError } from "./format-error.ts";
import { isControlCard, ServerClosingError } from "./stop-reason.ts";
import { type ReplyEncoder, createReplyEncoder } from "./reply-encoder.ts";

export interface RoleAgentOptions extends RoleRuntimeOptions, AnswerWaitLimits {
  /** What thinks for the role. Default: nothing; a role that thinks fails without it. */
  readonly model?: RoleModel;
  /** True: whoever asks must speak in cards. Default false: plain text is a task, and its answer is plain text. */
  readonly requireCards?: boolean;
  /** More to say in the agent's card. */
  readonly agentCard?: Partial<
    Pick<AgentDescription, "name" | "version" | "provider" | "documentationUrl" | "iconUrl">
  >;
}

/** A role as an A2A agent: takes a task as a card, or in words, has the role work on it, and replies in the same way. */
export function createRoleAgent(role: Role, options: RoleAgentOptions = {}): Agent {
  return new RoleAgent(role, options);
}

/** A role at work on a task. */
interface ActiveTask {
  readonly work: ResumableWork<ResultCard>;
  readonly execution: RoleExecution;
  readonly journal: CardJournal;
  readonly replyEncoder: ReplyEncoder;
  readonly requestCard: TaskCard | QueryCard;
  readonly requestTransport: CardTransportInfo;
  /** What was asked and is not answered. */
  openQuery: QueryCard | undefined;
}

class RoleAgent implements Agent {
  readonly #role: Role;
  readonly #runtime: RoleRuntime;
  readonly #options: RoleAgentOptions;
  readonly #activeTasks: ResumableWorkRegistry<ResultCard, ActiveTask>;

  constructor(role: Role, options: RoleAgentOptions) {
    this.#role = role;
    this.#options = options;
    this.#runtime = createRoleRuntime(role.name, options);
    this.#activeTasks = new ResumableWorkRegistry(this.#runtime.clock, options);
  }

  describe(): AgentDescription {
    const { name, description } = this.#role;
    const { protocol } = this.#runtime;
    const accepts = listCardTypes(protocol, "to", name);
    const emits = listCardTypes(protocol, "from", name);
    const params = { role: name, accepts, emits, relay: ["none", "full"] as const };
    const { requireCards: required = false, agentCard: about } = this.#options;
    return {
      name,
      description,
      version: "1.0.0",
      defaultInputModes: ["text/plain", "application/json", MESSAGE_CARD_MEDIA_TYPE],
      defaultOutputModes: ["text/plain", MESSAGE_CARD_MEDIA_TYPE],
      skills: [{ id: name, name, description, tags: ["cards", name] }],
      capabilities: { streaming: true, extensions: [createMessageCardExtension(params, required)] },
      ...about,
    };
  }

  async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const known = this.#activeTasks.find(run.taskId);
    const begun = known ? this.#resumeTask(known, run) : this.#acceptOrReject(run);
    if (!("work" in begun)) {
      yield begun;
      return;
    }
    yield* this.#activeTasks.streamTurn(begun, run);
  }

  onTaskCanceled({ id }: Task, _caller: Caller, metadata: JsonObject): void {
    this.#activeTasks.abandonWork(id, metadata);
  }

  deliver(message: Message, { id }: Task): boolean {
    const work = this.#activeTasks.find(id);
    const card = work && parseControlCard(message, work.requestCard, this.#runtime.protocol);
    if (card) this.#applyControlCard(work, card, message.messageId);
    return card !== undefined;
  }

  /** Takes a card in, or refuses it. */
  #acceptOrReject(run: Run): ActiveTask | AgentEvent {
    if ((run.task.history?.length ?? 0) > 1) return this.#failLostTask(run);
    const { protocol } = this.#runtime;
    const envelope = extractRunEnvelope(run);
    let card: MessageCard | undefined;
    try {
      card = parseRequestCard(run.message, this.#role.name, protocol);
      const given = requireRequestCard(card, this.#role.name, protocol, envelope.hops);
      const work = this.#createActiveTask(
        given,
        envelope,
        buildCardTransport(run, envelope),
        createReplyEncoder(shouldReplyInCards(run)),
      );
      this.#activeTasks.register(run.taskId, work);
      void this.#runTask(work);
      return work;
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      return this.#rejectMessage(run, card, envelope, formatError(error));
    }
  }

  /** An error for whoever sent what is not taken; what cannot be read has a sender who wants to know, too. */
  #rejectMessage(run: Run, card: MessageCard | undefined, envelope: CardEnvelope, why: string): AgentEvent {
    const cards = new CardJournal(this.#runtime, card, envelope);
    const carrier = buildCardTransport(run, envelope);
    if (card) cards.recordReceived(card, carrier, false);
    const about = { error_type: "protocol_violation", ...buildReplyMetadata(card) };
    const refusal = cards.createErrorCard(card?.sender ?? CONTROLLER, `Refused: ${why}`, about);
    cards.recordSent(refusal, carrier, false);
    return createReplyEncoder(shouldReplyInCards(run)).encodeRejection(refusal);
  }

  #createActiveTask(
    given: TaskCard | QueryCard,
    envelope: CardEnvelope,
    carrier: CardTransportInfo,
    voice: ReplyEncoder,
  ): ActiveTask {
    const relays = envelope.relay === "full" && voice.usesCards;
    const sitting: ResumableWork<ResultCard> = new ResumableWork((cancellation) => {
      if (desk.signal.aborted) return;
      const reason = toAbortReason(cancellation);
      if (isControlCard(reason)) cards.recordReceived(reason, { ...carrier, method: "CancelTask" }, false);
      desk.stop(reason);
    });
    const witness = relays
      ? { onCard: (card: MessageCard): void => sitting.emit(voice.encodeProgress(card)) }
      : undefined;
    const cards = new CardJournal(this.#runtime, given, envelope, witness);
    const giver = {
      notify: (card: MessageCard): void => sitting.emit(voice.encodeProgress(card)),
      sendQuery: (query: QueryCard): Promise<ResultCard> => this.#queryRequester(work, query),
    };
    const desk: RoleExecution = new RoleExecution({
      role: this.#role,
      requestCard: given,
      journal: cards,
      requestTransport: carrier,
      requester: giver,
    });
    const work: ActiveTask = {
      work: sitting,
      execution: desk,
      journal: cards,
      replyEncoder: voice,
      requestCard: given,
      requestTransport: carrier,
      openQuery: undefined,
    };
    cards.recordReceived(given, carrier, false);
    sitting.emit({ status: { state: "TASK_STATE_WORKING" } });
    return work;
  }

  async #runTask(work: ActiveTask): Promise<void> {
    const {
      work: sitting,
      execution: desk,
      journal: cards,
      replyEncoder: voice,
      requestTransport: carrier,
    } = work;
    const reply = await desk.execute();
    // What nobody can hear was not said.
    if (!sitting.isAbandoned) cards.recordSent(reply, carrier, false);
    for (const event of voice.encodeFinal(reply, desk.wasStopped)) sitting.emit(event);
    this.#activeTasks.endWork(carrier.task_id ?? "", work);
  }

  async #queryRequester(work: ActiveTask, query: QueryCard): Promise<ResultCard> {
    work.openQuery = query;
    try {
      const question = work.replyEncoder.encodeQuery(query);
      return await this.#activeTasks.askQuestion(
        work.requestTransport.task_id ?? "",
        work,
        question,
        work.execution.signal,
      );
    } finally {
      work.openQuery = undefined;
    }
  }

  /** The next message of a task whose role waits for an answer. */
  #resumeTask(work: ActiveTask, { message, taskId }: Run): ActiveTask {
    const { work: sitting, openQuery: asked, requestCard: given, journal: cards } = work;
    const { protocol, observer } = this.#runtime;
    try {
      const control = parseControlCard(message, given, protocol);
      if (control) {
        this.#applyControlCard(work, control, message.messageId);
        if (!work.execution.signal.aborted) sitting.repeatQuestion();
      } else if (asked) {
        sitting.resolveQuestion(
          parseAnswerCard(message, asked, protocol) ??
            createAnswerCardFromText(getText(message.parts), asked, cards),
        );
      }
    } catch (error) {
      // An answer that is none leaves the question open.
      observer.onError?.({ where: this.#role.name, error, taskId });
      sitting.repeatQuestion();
    }
    return work;
  }

  #applyControlCard(work: ActiveTask, card: ControlCard, message_id: string): void {
    work.journal.recordReceived(card, { ...work.requestTransport, method: "SendMessage", message_id }, false);
    if (card.content === "stop") work.execution.stop(card);
    else work.execution.addControlCard(card);
  }

  /** A task that waited for an answer when the process that knew why went away. */
  #failLostTask(run: Run): AgentEvent {
    const [first = run.message] = run.task.history ?? [];
    const envelope = decodeCardEnvelope(first.metadata);
    const card = findReadableCard(first);
    const cards = new CardJournal(this.#runtime, card, envelope);
    const text = `The ${this.#role.name} waited for this, but was restarted meanwhile and has forgotten the task; send it again`;
    const about = { error_type: "transport_error", retryable: true, ...buildReplyMetadata(card) };
    const error = cards.createErrorCard(card?.sender ?? CONTROLLER, text, about);
    cards.recordSent(error, buildCardTransport(run, envelope), false);
    return createReplyEncoder(card !== undefined || shouldReplyInCards(run)).encodeFailure(error);
  }
}

/** The answer of somebody who does not speak in cards: one of the options, where it says the same. */
function createAnswerCardFromText(text: string, asked: QueryCard, cards: CardJournal): ResultCard {
  const { options = [], card_id } = asked.metadata;
  const same = (option: string): boolean => option.trim().toLowerCase() === text.trim().toLowerCase();
  const about = {
    ...omitUndefined({ in_reply_to: card_id, selected: options.find(same) }),
    status: "success",
  };
  return cards.createCardOnBehalfOf(asked.recipient, "result", text, about);
}

function buildReplyMetadata(card: MessageCard | undefined): Pick<CardMetadata, "in_reply_to"> {
  return omitUndefined({ in_reply_to: card?.metadata.card_id });
}

function toAbortReason(cancellation: JsonObject | undefined): unknown {
  if (!cancellation) return new ServerClosingError("The server closes.");
  const card = findCardInMetadata(cancellation);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
}

/** The trace is in a header, too, for those who put nothing into metadata. */
function extractRunEnvelope({ message, metadata, traceparent }: Run): CardEnvelope {
  const envelope = decodeCardEnvelope(message.metadata, metadata);
  return isTraceparent(traceparent) ? { traceparent, ...envelope } : envelope;
}

function buildCardTransport(
  { taskId, contextId, message }: Run,
  { traceparent }: CardEnvelope,
): CardTransportInfo {
  return {
    task_id: taskId,
    context_id: contextId,
    message_id: message.messageId,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The types of cards that go in one direction. */
function listCardTypes({ routes }: AnyCardProtocol, end: "from" | "to", role: string): string[] {
  return [...new Set(routes.flatMap((route) => (route[end] === role ? route.types : [])))];
}
