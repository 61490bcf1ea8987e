import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../../engine/index.ts";
import { A2AError, type JsonObject, type Message, type Task, textOf } from "../../protocol/index.ts";
import {
  type Card,
  CARD_MEDIA_TYPE,
  cardExtension,
  type CardCarrier,
  type CardMetadata,
  type ControlCard,
  CONTROLLER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../../cards/index.ts";
import { cardInMetadata, type Envelope, envelopeOf, isTraceparent } from "../../cards/index.ts";
import type { RoleModel } from "../model.ts";
import type { Role } from "../role.ts";
import { Correspondence } from "./correspondence.ts";
import { RoleDesk } from "./desk.ts";
import { answerIn, cardOfMessage, cardOrNone, checkGiven, controlIn, speaksCards } from "./intake.ts";
import { type AnyProtocol, type Office, type OfficeOptions, openOffice } from "./office.ts";
import { Sitting } from "./sitting.ts";
import { Sittings, type WaitingLimits } from "./sittings.ts";
import { defined } from "./defined.ts";
import { errorText } from "./error-text.ts";
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
    const work = this.#works.find(id);
    const card = work && controlIn(message, work.given, this.#office.protocol);
    if (card) this.#control(work, card, message.messageId);
    return card !== undefined;
  }

  /** Takes a card in, or refuses it. */
  #begin(run: Run): Work | AgentEvent {
    if ((run.task.history?.length ?? 0) > 1) return this.#lost(run);
    const { protocol } = this.#office;
    const envelope = envelopeOfRun(run);
    let card: Card | undefined;
    try {
      card = cardOfMessage(run.message, this.#role.name, protocol);
      const given = checkGiven(card, this.#role.name, protocol, envelope.hops);
      const work = this.#open(given, envelope, carrierOf(run, envelope), voiceFor(speaksCards(run)));
      this.#works.begin(run.taskId, work);
      void this.#work(work);
      return work;
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      return this.#refuse(run, card, envelope, errorText(error));
    }
  }

  /** An error for whoever sent what is not taken; what cannot be read has a sender who wants to know, too. */
  #refuse(run: Run, card: Card | undefined, envelope: Envelope, why: string): AgentEvent {
    const cards = new Correspondence(this.#office, card, envelope);
    const carrier = carrierOf(run, envelope);
    if (card) cards.received(card, carrier, false);
    const about = { error_type: "protocol_violation", ...replyingTo(card) };
    const refusal = cards.error(card?.sender ?? CONTROLLER, `Refused: ${why}`, about);
    cards.sent(refusal, carrier, false);
    return voiceFor(speaksCards(run)).refused(refusal);
  }

  #open(given: TaskCard | QueryCard, envelope: Envelope, carrier: CardCarrier, voice: Voice): Work {
    const relays = envelope.relay === "full" && voice.speaksCards;
    const sitting: Sitting<ResultCard> = new Sitting((cancellation) => {
      if (desk.signal.aborted) return;
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
    sitting.say({ status: { state: "TASK_STATE_WORKING" } });
    return work;
  }

  async #work(work: Work): Promise<void> {
    const { sitting, desk, cards, voice, carrier } = work;
    const reply = await desk.work();
    // What nobody can hear was not said.
    if (!sitting.isAbandoned) cards.sent(reply, carrier, false);
    for (const event of voice.ended(reply, desk.wasStopped)) sitting.say(event);
    this.#works.end(carrier.task_id ?? "", work);
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
  #goOn(work: Work, { message, taskId }: Run): Work {
    const { sitting, asked, given, cards } = work;
    const { protocol, observer } = this.#office;
    try {
      const control = controlIn(message, given, protocol);
      if (control) {
        this.#control(work, control, message.messageId);
        if (!work.desk.signal.aborted) sitting.repeat();
      } else if (asked) {
        sitting.answer(answerIn(message, asked, protocol) ?? inWords(textOf(message.parts), asked, cards));
      }
    } catch (error) {
      // An answer that is none leaves the question open.
      observer.onError?.({ where: this.#role.name, error, taskId });
      sitting.repeat();
    }
    return work;
  }

  #control(work: Work, card: ControlCard, message_id: string): void {
    work.cards.received(card, { ...work.carrier, method: "SendMessage", message_id }, false);
    if (card.content === "stop") work.desk.stop(card);
    else work.desk.control(card);
  }

  /** A task that waited for an answer when the process that knew why went away. */
  #lost(run: Run): AgentEvent {
    const [first = run.message] = run.task.history ?? [];
    const envelope = envelopeOf(first.metadata);
    const card = cardOrNone(first);
    const cards = new Correspondence(this.#office, card, envelope);
    const text = `The ${this.#role.name} waited for this, but was restarted meanwhile and has forgotten the task; send it again`;
    const about = { error_type: "transport_error", retryable: true, ...replyingTo(card) };
    const error = cards.error(card?.sender ?? CONTROLLER, text, about);
    cards.sent(error, carrierOf(run, envelope), false);
    return voiceFor(card !== undefined || speaksCards(run)).failed(error);
  }
}

/** The answer of somebody who does not speak in cards: one of the options, where it says the same. */
function inWords(text: string, asked: QueryCard, cards: Correspondence): ResultCard {
  const { options = [], card_id } = asked.metadata;
  const same = (option: string): boolean => option.trim().toLowerCase() === text.trim().toLowerCase();
  const about = { ...defined({ in_reply_to: card_id, selected: options.find(same) }), status: "success" };
  return cards.inNameOf(asked.recipient, "result", text, about);
}

function replyingTo(card: Card | undefined): Pick<CardMetadata, "in_reply_to"> {
  return defined({ in_reply_to: card?.metadata.card_id });
}

function reasonOf(cancellation: JsonObject | undefined): unknown {
  if (!cancellation) return new ServerCloses("The server closes.");
  const card = cardInMetadata(cancellation);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
}

/** The trace is in a header, too, for those who put nothing into metadata. */
function envelopeOfRun({ message, metadata, traceparent }: Run): Envelope {
  const envelope = envelopeOf(message.metadata, metadata);
  return isTraceparent(traceparent) ? { traceparent, ...envelope } : envelope;
}

function carrierOf({ taskId, contextId, message }: Run, { traceparent }: Envelope): CardCarrier {
  return {
    task_id: taskId,
    context_id: contextId,
    message_id: message.messageId,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The types of cards that go in one direction. */
function typesOf({ routes }: AnyProtocol, end: "from" | "to", role: string): string[] {
  return [...new Set(routes.flatMap((route) => (route[end] === role ? route.types : [])))];
}
