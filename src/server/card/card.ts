import { createHash } from "node:crypto";
import type { Agent, AgentDescription, Caller } from "../../engine/index.ts";
import {
  A2AError,
  checkDescription,
  refuseCard,
  type AgentCapabilities,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
} from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";
import { refusal, type Gate } from "../auth/authentication.ts";
import { shaped, shapeFor, type CardShape, type CardShapes } from "./card-shape.ts";
import { signCard, type CardSigning } from "./card-signing.ts";
import type { HttpReply, HttpRequest } from "../exchange.ts";
import { DEFAULT_MODES } from "../input-modes.ts";
import { isLoopback } from "../loopback.ts";
import { interfacesOf } from "./interfaces.ts";

/** How long a card may be kept without asking again, in seconds. */
const MAX_AGE = 300;
/** As many printed cards are kept; a server is rarely reached under more than one or two origins. */
const MAX_PRINTED = 64;

/** A card as it is sent, for one origin in one shape. */
interface PrintedCard {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly modified: number;
}

/** What a card has beside what its agent says. */
export interface CardOptions extends CardShapes {
  /** Where the agent is served below the origin, for example `/a2a/weather`. */
  readonly path: string;
  /** What URLs begin with, where that is not as each request says. */
  readonly publicUrl?: string | undefined;
  /** Who may come in; undefined: everybody. */
  readonly gate?: Gate | undefined;
  /** The tenant that every request is to name. */
  readonly tenant?: string | undefined;
  /** Whether push notifications are sent; an agent may say that of its own it sends none. */
  readonly pushNotifications?: boolean;
  readonly signing?: CardSigning | readonly CardSigning[] | undefined;
}

/** Where else an agent is, for who reached the server under an origin and is to name a tenant. */
export type FurtherInterfaces = (origin: string, tenant: string | undefined) => readonly AgentInterface[];

/**
 * An agent's card: described once, printed and signed once for each origin under which the server is reached and each
 * shape that is asked for.
 */
export class CardStand {
  readonly #agent: Agent;
  readonly #options: CardOptions;
  readonly #printed = new Map<string, PrintedCard>();
  readonly #modified: number;
  #further: FurtherInterfaces = () => [];
  #asking: Promise<AgentDescription> | undefined;
  #described: AgentDescription | undefined;

  constructor(agent: Agent, options: CardOptions, now: number = Date.now()) {
    this.#agent = agent;
    this.#options = options;
    this.#modified = Math.floor(now / 1000) * 1000;
  }

  /** What is known of the agent, once it was asked. */
  get described(): AgentDescription | undefined {
    return this.#described;
  }

  /** What the agent says of itself, completed by what this server offers. Asked again after it failed. */
  async description(): Promise<AgentDescription> {
    return await this.begin();
  }

  /** The same; what an agent says at once is there at once, and thrown at once when it is wrong. */
  begin(): AgentDescription | Promise<AgentDescription> {
    const known = this.#described ?? this.#asking;
    if (known) return known;
    const given = this.#agent.describe();
    if (!("then" in given)) return (this.#described = this.#offer(given));
    const asking = given.then((late) => (this.#described = this.#offer(late)));
    asking.catch(() => {
      this.#asking = undefined;
    });
    return (this.#asking = asking);
  }

  /** The description with what this server adds to it. */
  #offer(given: AgentDescription): AgentDescription {
    const { gate } = this.#options;
    // All or nothing: requirements that name schemes of somebody else would be of no use.
    const isDeclared = given.securitySchemes !== undefined || given.securityRequirements !== undefined;
    const extended = this.#agent.describeExtended && gate ? { extendedAgentCard: true } : {};
    const capabilities: AgentCapabilities = {
      streaming: true,
      pushNotifications: true,
      ...extended,
      ...given.capabilities,
    };
    // What the server does not send, no agent can offer.
    if (!this.#options.pushNotifications) delete capabilities.pushNotifications;
    const described = { ...(isDeclared ? {} : gate?.declared), ...given, capabilities };
    checkCardOf(described);
    return described;
  }

  /** Adds interfaces beside those of HTTP. */
  offer(further: FurtherInterfaces): void {
    this.#further = further;
    this.#printed.clear();
  }

  async card(origin: string): Promise<AgentCard> {
    return this.#complete(await this.description(), origin, this.#options.tenant);
  }

  /** The card for a caller (A2A §3.1.11), with what only those are told who are somebody. */
  async extended(caller: Caller, origin: string): Promise<AgentCard> {
    const { gate, publicUrl = origin } = this.#options;
    if (!this.#agent.describeExtended) throw notConfigured();
    if (caller.principal === "") throw gate?.refusal() ?? refusal();
    const description = await this.description();
    const more = await this.#agent.describeExtended(caller);
    if (!more) throw notConfigured();
    const capabilities = { ...description.capabilities, ...more.capabilities };
    const whole = { ...description, ...more, capabilities };
    checkCardOf(whole);
    return await this.#complete(whole, publicUrl, caller.tenant);
  }

  async #complete(
    description: AgentDescription,
    origin: string,
    tenant: string | undefined,
  ): Promise<AgentCard> {
    const { path, signing, versions, publicUrl } = this.#options;
    if (signing && origin !== publicUrl) checkOwn(origin);
    const interfaces = [...interfacesOf(origin + path, versions, tenant), ...this.#further(origin, tenant)];
    const card = toCard(description, interfaces);
    return signing ? await signCard(card, signing) : card;
  }

  /** Answers GET and HEAD, also conditional ones (A2A §8.6.1, RFC 9110 §13). */
  async reply(request: HttpRequest, origin: string): Promise<HttpReply> {
    const { headers, body, etag, modified } = await this.#print(origin, shapeFor(request, this.#options));
    const fresh = isFresh(request, etag, modified);
    return fresh
      ? { status: 304, headers }
      : { status: 200, headers: { ...headers, "content-type": "application/json" }, body };
  }

  async #print(origin: string, shape: CardShape): Promise<PrintedCard> {
    const place = `${shape} ${origin}`;
    const known = this.#printed.get(place);
    if (known) return known;
    const body = JSON.stringify(shaped(await this.card(origin), shape));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const headers = {
      etag,
      "cache-control": `public, max-age=${MAX_AGE}`,
      "last-modified": new Date(this.#modified).toUTCString(),
      ...(this.#options.versions.length > 1 ? { vary: "A2A-Version" } : {}),
    };
    const printed = { body, headers, etag, modified: this.#modified };
    if (this.#printed.size >= MAX_PRINTED) this.#printed.clear();
    this.#printed.set(place, printed);
    return printed;
  }
}

/**
 * Refuses an origin that only the request claims. Who asks chooses its Host, and would get a signed card that sends
 * whoever trusts the signature there.
 */
function checkOwn(origin: string): void {
  const host = URL.parse(origin)?.hostname.replace(/^\[|\]$/g, "");
  if (host !== undefined && isLoopback(host)) return;
  const text = `This server signs its cards, and does not vouch for ${JSON.stringify(origin.slice(0, 100))}; set publicUrl to where it is published.`;
  throw new A2AError("PERMISSION_DENIED", text);
}

function notConfigured(): A2AError {
  const text = "There is no extended card for you; the public card says all.";
  return new A2AError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", text);
}

/** Throws for a description that can not be a card. */
function checkCardOf(described: AgentDescription): void {
  // As JSON, because that is what becomes of it.
  const somewhere = interfacesOf("http://localhost", ["1.0"], undefined);
  const json: unknown = JSON.parse(JSON.stringify(toCard(described, somewhere)));
  refuseCard(described.name, v1.checkCard(json));
  checkDescription(described);
}

/** True when the client's copy is this one. `If-None-Match` decides alone when it is there. */
function isFresh(request: HttpRequest, etag: string, modified: number): boolean {
  const tags = request.header("if-none-match");
  if (tags !== undefined) {
    return tags.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.header("if-modified-since") ?? "");
  return since >= modified;
}

/** A whole card from what the agent says of itself. */
function toCard(description: AgentDescription, supportedInterfaces: AgentInterface[]): AgentCard {
  const {
    name,
    description: text,
    version,
    capabilities,
    defaultInputModes,
    defaultOutputModes,
    skills,
    ...rest
  } = description;
  return {
    name,
    description: text,
    supportedInterfaces,
    version: version ?? "1.0.0",
    capabilities: { ...capabilities },
    defaultInputModes: defaultInputModes ?? [...DEFAULT_MODES],
    defaultOutputModes: defaultOutputModes ?? [...DEFAULT_MODES],
    skills: skills?.length ? skills : [wholeSkill(name, text)],
    ...rest,
  };
}

/** A card must name at least one skill (A2A §5.7): an agent that lists none has itself as its skill. */
function wholeSkill(name: string, description: string): AgentSkill {
  return { id: name, name, description: description || name, tags: ["agent"] };
}
