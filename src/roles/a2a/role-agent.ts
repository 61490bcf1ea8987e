import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../../engine/index.ts";
import { A2AError, type JsonObject, type Message, type Task, textOf } from "../../protocol/index.ts";
import {
  type Card,
  CARD_EXTENSION,
  CARD_MEDIA_TYPE,
  cardExtension,
  type CardCarrier,
  cardIn,
  cardInMetadata,
  type ControlCard,
  CONTROLLER,
  type Envelope,
  envelopeOf,
  MAX_HOPS,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../../cards/index.ts";
import type { RoleModel } from "../model.ts";
import type { Role } from "../role.ts";
import { Correspondence } from "./correspondence.ts";
import { RoleDesk } from "./desk.ts";
import { type AnyProtocol, type Office, type OfficeOptions, openOffice } from "./office.ts";
import { Sitting } from "./sitting.ts";
import { Sittings, type WaitingLimits } from "./sittings.ts";
import { defined, wordsOf } from "./small.ts";
import { isControlCard, ServerCloses } from "./stopping.ts";
import { type Voice, voiceFor } from "./voice.ts";

export interface RoleOptions extends OfficeOptions, WaitingLimits {
  /** What thinks for the role. Default: nothing; a role that thinks fails without it. */
  readonly model?: RoleModel;
  /** True: whoever asks must speak in cards. Default false: plain text is a task, and its answer is plain text. */
  readonly required?: boolean;
  /** More to say in the agent's card. */
  readonly about?: Partial<
    Pick<AgentDescription, "name" | "version" | "provider" | "documentationUrl" | "iconUrl">
  >;
}

/** A role as an A2A agent: takes a task as a card, or in words, has the role work on it, and replies in the same way. */
export function roleAgent(role: Role, options: RoleOptions = {}): Agent {
  return new RoleAgent(role, options);
}

/** A role at work on a task. */
interface Work {
  readonly sitting: Sitting<ResultCard>;
  readonly desk: RoleDesk;
  readonly cards: Correspondence;
  readonly voice: Voice;
  readonly given: TaskCard | QueryCard;
  readonly carrier: CardCarrier;
  /** What was asked and is not answered. */
  asked: QueryCard | undefined;
}

class RoleAgent implements Agent {
  readonly #role: Role;
  readonly #office: Office;
  readonly #options: RoleOptions;
  readonly #works: Sittings<ResultCard, Work>;

  constructor(role: Role, options: RoleOptions) {
    this.#role = role;
    this.#options = options;
    this.#office = openOffice(role.name, options);
    this.#works = new Sittings(this.#office.clock, options);
  }

  describe(): AgentDescription {
    const { name, description } = this.#role;
    const { protocol } = this.#office;
    const accepts = typesOf(protocol, "to", name);
    const emits = typesOf(protocol, "from", name);
    const params = { role: name, accepts, emits, relay: ["none", "full"] as const };
    const { required = false, about } = this.#options;
    return {
      name,
      description,
      version: "1.0.0",
      defaultInputModes: ["text/plain", "application/json", CARD_MEDIA_TYPE],
      defaultOutputModes: ["text/plain", CARD_MEDIA_TYPE],
      skills: [{ id: name, name, description, tags: ["cards", name] }],
      capabilities: { streaming: true, extensions: [cardExtension(params, required)] },
      ...about,
    };
  }

  async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const known = this.#works.find(run.taskId);
    const begun = known ? this.#goOn(known, run) : this.#begin(run);
    if (!("sitting" in begun)) {
      yield begun;
      return;
    }
    yield* this.#works.turn(begun, run);
  }

  cancelled({ id }: Task, _caller: Caller, metadata: JsonObject): void {
    this.#works.giveUp(id, metadata);
  }

  deliver(message: Message, { id }: Task): boolean {
    const card = cardIn(message);
    const work = this.#works.find(id);
    if (!work || !isControlCard(card)) return false;
    this.#office.protocol.parse(card);
    this.#control(work, card, message.messageId);
    return true;
  }

  /** Takes a card in, or refuses it. */
  #begin(run: Run): Work | AgentEvent {
    const { message, taskId, contextId } = run;
    const envelope = envelopeOf(message.metadata, run.metadata);
    const carrier = carrierOf(run, envelope);
    if ((run.task.history?.length ?? 0) > 1) return this.#lost(run, envelope);
    let card: Card | undefined;
    try {
      card = cardIn(message) ?? this.#taskInWords(textOf(message.parts));
      const voice = voiceFor(run.extensions.includes(CARD_EXTENSION) || isInCards(message));
      const given = this.#given(card, envelope);
      const work = this.#open(given, envelope, carrier, voice);
      work.sitting.say({ status: { state: "TASK_STATE_WORKING" } });
      this.#works.begin(taskId, work);
      void this.#work(work);
      return work;
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      // Also a card that cannot be read has a sender who wants to know.
      const sender = card?.sender ?? CONTROLLER;
      const cards = new Correspondence(this.#office, card ?? NO_CARD, envelope);
      const in_reply_to = card?.metadata.card_id;
      const about = { error_type: "protocol_violation", ...defined({ in_reply_to }) };
      const refusal = cards.error(sender, `Refused: ${wordsOf(error)}`, about);
      cards.sent(refusal, { ...carrier, context_id: contextId }, false);
      return voiceFor(isInCards(message) || run.extensions.includes(CARD_EXTENSION)).refused(refusal);
    }
  }

  #given(card: Card, { hops }: Envelope): TaskCard | QueryCard {
    const { name } = this.#role;
    const parsed: Card = this.#office.protocol.parse(card);
    if (parsed.recipient !== name) {
      const description = `is ${parsed.recipient}, and this is the ${name}; send the card to whom it is for`;
      throw A2AError.invalidParams([{ field: "recipient", description }]);
    }
    if (hops > MAX_HOPS) {
      const description = `was handed on ${hops} times, which looks like a loop; ${MAX_HOPS} are allowed`;
      throw A2AError.invalidParams([{ field: "card", description }]);
    }
    if (parsed.message_type === "task" || parsed.message_type === "query")
      return parsed as TaskCard | QueryCard;
    const description = `${parsed.message_type} begins nothing; send a task, or name the task that it is about`;
    throw A2AError.invalidParams([{ field: "message_type", description }]);
  }

  /** A task from somebody who does not speak in cards, in the name of whoever may give this role tasks. */
  #taskInWords(task: string): TaskCard {
    const { protocol, newId } = this.#office;
    const to = this.#role.name;
    const from = protocol.routes.find((route) => route.to === to && route.types.includes("task"))?.from;
    if (from === undefined) {
      const description = `nobody may give the ${to} a task; add a route if somebody should`;
      throw A2AError.invalidParams([{ field: "message", description }]);
    }
    return protocol.createTaskCard({ from, to, task, metadata: { card_id: newId() } });
  }

  #open(given: TaskCard | QueryCard, envelope: Envelope, carrier: CardCarrier, voice: Voice): Work {
    const relays = envelope.relay === "full" && voice.speaksCards;
    const sitting: Sitting<ResultCard> = new Sitting((cancellation) => {
      const reason = reasonOf(cancellation);
      if (isControlCard(reason)) cards.received(reason, { ...carrier, method: "CancelTask" }, false);
      desk.stop(reason);
    });
    const witness = relays ? { exchanged: (card: Card): void => sitting.say(voice.told(card)) } : undefined;
    const cards = new Correspondence(this.#office, given, envelope, witness);
    const giver = {
      told: (card: Card): void => sitting.say(voice.told(card)),
      ask: (query: QueryCard): Promise<ResultCard> => this.#ask(work, query),
    };
    const desk: RoleDesk = new RoleDesk({ role: this.#role, given, cards, carrier, giver });
    const work: Work = { sitting, desk, cards, voice, given, carrier, asked: undefined };
    cards.received(given, carrier, false);
    return work;
  }

  async #work({ sitting, desk, cards, voice, carrier }: Work): Promise<void> {
    const reply = await desk.work();
    // What nobody can hear was not said.
    if (!sitting.isAbandoned) cards.sent(reply, carrier, false);
    for (const event of voice.ended(reply, desk.wasStopped)) sitting.say(event);
    sitting.end();
  }

  async #ask(work: Work, query: QueryCard): Promise<ResultCard> {
    work.asked = query;
    try {
      const question = work.voice.asked(query);
      return await this.#works.ask(work.carrier.task_id ?? "", work, question, work.desk.signal);
    } finally {
      work.asked = undefined;
    }
  }

  /** The next message of a task whose role waits for an answer. */
  #goOn(work: Work, run: Run): Work {
    const { sitting, asked } = work;
    try {
      const card = cardIn(run.message);
      if (isControlCard(card)) {
        this.#office.protocol.parse(card);
        this.#control(work, card, run.message.messageId);
        if (!work.desk.signal.aborted) sitting.repeat();
      } else if (asked) {
        sitting.answer(
          card ? this.#answerIn(card, asked) : inWords(textOf(run.message.parts), asked, work.cards),
        );
      }
    } catch (error) {
      // An answer that is none leaves the question open.
      this.#office.observer.onError?.({ where: this.#role.name, error, taskId: run.taskId });
      sitting.repeat();
    }
    return work;
  }

  #answerIn(card: Card, asked: QueryCard): ResultCard {
    const parsed: Card = this.#office.protocol.parse(card);
    const { in_reply_to = asked.metadata.card_id } = parsed.metadata;
    if (parsed.message_type === "result" && in_reply_to === asked.metadata.card_id)
      return parsed as ResultCard;
    const description = `is no result that replies to ${asked.metadata.card_id}`;
    throw A2AError.invalidParams([{ field: "card", description }]);
  }

  #control(work: Work, card: ControlCard, message_id: string): void {
    if (card.sender !== work.given.sender) {
      const description = `is ${card.sender}, and the task is ${work.given.sender}'s`;
      throw A2AError.invalidParams([{ field: "sender", description }]);
    }
    work.cards.received(card, { ...work.carrier, method: "SendMessage", message_id }, false);
    if (card.content === "stop") work.desk.stop(card);
    else work.desk.control(card);
  }

  /** A task that waited for an answer when the process that knew why went away. */
  #lost(run: Run, envelope: Envelope): AgentEvent {
    const first = run.task.history?.[0];
    const card = first && cardOrNone(first);
    const cards = new Correspondence(this.#office, card ?? NO_CARD, envelope);
    const text = `The ${this.#role.name} waited for this, but was restarted meanwhile and has forgotten the task; send it again`;
    const about = {
      error_type: "transport_error",
      retryable: true,
      ...defined({ in_reply_to: card?.metadata.card_id }),
    };
    const error = cards.error(card?.sender ?? CONTROLLER, text, about);
    cards.sent(error, carrierOf(run, envelope), false);
    const [failed] = voiceFor(card !== undefined || run.extensions.includes(CARD_EXTENSION)).ended(
      error,
      false,
    );
    return failed as AgentEvent;
  }
}

const NO_CARD: Card = {
  sender: CONTROLLER,
  recipient: CONTROLLER,
  message_type: "task",
  content: "",
  metadata: {},
  timestamp: "",
};

/** The answer of somebody who does not speak in cards: one of the options, where it says the same. */
function inWords(text: string, asked: QueryCard, cards: Correspondence): ResultCard {
  const { options = [], card_id } = asked.metadata;
  const same = (option: string): boolean => option.trim().toLowerCase() === text.trim().toLowerCase();
  const about = { ...defined({ in_reply_to: card_id, selected: options.find(same) }), status: "success" };
  return cards.inNameOf(asked.recipient, "result", text, about);
}

function reasonOf(cancellation: JsonObject | undefined): unknown {
  if (!cancellation) return new ServerCloses("The server closes.");
  const card = cardInMetadata(cancellation);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
}

function carrierOf({ taskId, contextId, message }: Run, { traceparent }: Envelope): CardCarrier {
  return {
    task_id: taskId,
    context_id: contextId,
    message_id: message.messageId,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function cardOrNone(message: Message): Card | undefined {
  try {
    return cardIn(message);
  } catch {
    return undefined;
  }
}

/** Also a card that cannot be read. */
function isInCards(message: Message): boolean {
  if (message.extensions?.includes(CARD_EXTENSION)) return true;
  try {
    return cardIn(message) !== undefined;
  } catch {
    return true;
  }
}

/** The types of cards that go in one direction. */
function typesOf({ routes }: AnyProtocol, end: "from" | "to", role: string): string[] {
  return [...new Set(routes.flatMap((route) => (route[end] === role ? route.types : [])))];
}
