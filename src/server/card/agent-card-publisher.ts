import { createHash } from "node:crypto";
import type { Agent, AgentDescription, Caller } from "../../engine/index.ts";
import {
  A2AError,
  assertValidAgentCard,
  assertNoCardViolations,
  type AgentCapabilities,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
} from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";
import { createUnauthenticatedError, type Authenticator } from "../auth/authenticator.ts";
import { encodeCard, negotiateCardFormat, type CardFormat, type CardFormatOptions } from "./card-format.ts";
import { signCard, type CardSigningOptions } from "./card-signing.ts";
import type { HttpReply, HttpRequest } from "../http-exchange.ts";
import { DEFAULT_MEDIA_MODES } from "../input-modes.ts";
import { isLoopback } from "../loopback-protection.ts";
import { buildHttpInterfaces } from "./agent-interfaces.ts";

/** How long a card may be kept without asking again, in seconds. */
const CACHE_MAX_AGE_SECONDS = 300;
/** As many printed cards are kept; a server is rarely reached under more than one or two origins. */
const MAX_RENDERED_CARDS = 64;

/** A card as it is sent, for one origin in one shape. */
interface RenderedCard {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly modifiedAt: number;
}

/** What a card has beside what its agent says. */
export interface AgentCardOptions extends CardFormatOptions {
  /** Where the agent is served below the origin, for example `/a2a/weather`. */
  readonly path: string;
  /** What URLs begin with, where that is not as each request says. */
  readonly publicUrl?: string | undefined;
  /** Who may come in; undefined: everybody. */
  readonly authenticator?: Authenticator | undefined;
  /** The tenant that every request is to name. */
  readonly tenant?: string | undefined;
  /** Whether push notifications are sent; an agent may say that of its own it sends none. */
  readonly pushNotifications?: boolean;
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[] | undefined;
}

/** Where else an agent is, for who reached the server under an origin and is to name a tenant. */
export type AgentInterfaceProvider = (
  origin: string,
  tenant: string | undefined,
) => readonly AgentInterface[];

/**
 * An agent's card: described once, printed and signed once for each origin under which the server is reached and each
 * shape that is asked for.
 */
export class AgentCardPublisher {
  readonly #agent: Agent;
  readonly #options: AgentCardOptions;
  readonly #renderedCards = new Map<string, RenderedCard>();
  readonly #modifiedAt: number;
  #interfaceProvider: AgentInterfaceProvider = () => [];
  #pendingDescription: Promise<AgentDescription> | undefined;
  #cachedDescription: AgentDescription | undefined;

  constructor(agent: Agent, options: AgentCardOptions, now: number = Date.now()) {
    this.#agent = agent;
    this.#options = options;
    this.#modifiedAt = Math.floor(now / 1000) * 1000;
  }

  /** What is known of the agent, once it was asked. */
  get cachedDescription(): AgentDescription | undefined {
    return this.#cachedDescription;
  }

  /** What the agent says of itself, completed by what this server offers. Asked again after it failed. */
  async getDescription(): Promise<AgentDescription> {
    return await this.loadDescription();
  }

  /** The same; what an agent says at once is there at once, and thrown at once when it is wrong. */
  loadDescription(): AgentDescription | Promise<AgentDescription> {
    const known = this.#cachedDescription ?? this.#pendingDescription;
    if (known) return known;
    const given = this.#agent.describe();
    if (!("then" in given)) return (this.#cachedDescription = this.#completeDescription(given));
    const asking = given.then((late) => (this.#cachedDescription = this.#completeDescription(late)));
    asking.catch(() => {
      this.#pendingDescription = undefined;
    });
    return (this.#pendingDescription = asking);
  }

  /** The description with what this server adds to it. */
  #completeDescription(given: AgentDescription): AgentDescription {
    const { authenticator: gate } = this.#options;
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
    const described = { ...(isDeclared ? {} : gate?.securityDeclaration), ...given, capabilities };
    assertValidCardDescription(described);
    return described;
  }

  /** Adds interfaces beside those of HTTP. */
  setInterfaceProvider(further: AgentInterfaceProvider): void {
    this.#interfaceProvider = further;
    this.#renderedCards.clear();
  }

  async buildCard(origin: string): Promise<AgentCard> {
    return this.#assembleCard(await this.getDescription(), origin, this.#options.tenant);
  }

  /** The card for a caller (A2A §3.1.11), with what only those are told who are somebody. */
  async buildExtendedCard(caller: Caller, origin: string): Promise<AgentCard> {
    const { authenticator: gate, publicUrl = origin } = this.#options;
    if (!this.#agent.describeExtended) throw createNoExtendedCardError();
    if (caller.principal === "") throw gate?.createUnauthenticatedError() ?? createUnauthenticatedError();
    const description = await this.getDescription();
    const more = await this.#agent.describeExtended(caller);
    if (!more) throw createNoExtendedCardError();
    const capabilities = { ...description.capabilities, ...more.capabilities };
    const whole = { ...description, ...more, capabilities };
    assertValidCardDescription(whole);
    return await this.#assembleCard(whole, publicUrl, caller.tenant);
  }

  async #assembleCard(
    description: AgentDescription,
    origin: string,
    tenant: string | undefined,
  ): Promise<AgentCard> {
    const { path, cardSigning: signing, versions, publicUrl } = this.#options;
    if (signing && origin !== publicUrl) assertTrustedOrigin(origin);
    const interfaces = [
      ...buildHttpInterfaces(origin + path, versions, tenant),
      ...this.#interfaceProvider(origin, tenant),
    ];
    const card = toAgentCard(description, interfaces);
    return signing ? await signCard(card, signing) : card;
  }

  /** Answers GET and HEAD, also conditional ones (A2A §8.6.1, RFC 9110 §13). */
  async handle(request: HttpRequest, origin: string): Promise<HttpReply> {
    const {
      headers,
      body,
      etag,
      modifiedAt: modified,
    } = await this.#renderCard(origin, negotiateCardFormat(request, this.#options));
    const fresh = isNotModified(request, etag, modified);
    return fresh
      ? { status: 304, headers }
      : { status: 200, headers: { ...headers, "content-type": "application/json" }, body };
  }

  async #renderCard(origin: string, shape: CardFormat): Promise<RenderedCard> {
    const place = `${shape} ${origin}`;
    const known = this.#renderedCards.get(place);
    if (known) return known;
    const body = JSON.stringify(encodeCard(await this.buildCard(origin), shape));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const headers = {
      etag,
      "cache-control": `public, max-age=${CACHE_MAX_AGE_SECONDS}`,
      "last-modified": new Date(this.#modifiedAt).toUTCString(),
      ...(this.#options.versions.length > 1 ? { vary: "A2A-Version" } : {}),
    };
    const printed = { body, headers, etag, modifiedAt: this.#modifiedAt };
    if (this.#renderedCards.size >= MAX_RENDERED_CARDS) this.#renderedCards.clear();
    this.#renderedCards.set(place, printed);
    return printed;
  }
}

/**
 * Refuses an origin that only the request claims. Who asks chooses its Host, and would get a signed card that sends
 * whoever trusts the signature there.
 */
function assertTrustedOrigin(origin: string): void {
  const host = URL.parse(origin)?.hostname.replace(/^\[|\]$/g, "");
  if (host !== undefined && isLoopback(host)) return;
  const text = `This server signs its cards, and does not vouch for ${JSON.stringify(origin.slice(0, 100))}; set publicUrl to where it is published.`;
  throw new A2AError("PERMISSION_DENIED", text);
}

function createNoExtendedCardError(): A2AError {
  const text = "There is no extended card for you; the public card says all.";
  return new A2AError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", text);
}

/** Throws for a description that can not be a card. */
function assertValidCardDescription(described: AgentDescription): void {
  // As JSON, because that is what becomes of it.
  const somewhere = buildHttpInterfaces("http://localhost", ["1.0"], undefined);
  const json: unknown = JSON.parse(JSON.stringify(toAgentCard(described, somewhere)));
  assertNoCardViolations(described.name, v1.validateAgentCard(json));
  assertValidAgentCard(described);
}

/** True when the client's copy is this one. `If-None-Match` decides alone when it is there. */
function isNotModified(request: HttpRequest, etag: string, modified: number): boolean {
  const tags = request.header("if-none-match");
  if (tags !== undefined) {
    return tags.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.header("if-modified-since") ?? "");
  return since >= modified;
}

/** A whole card from what the agent says of itself. */
function toAgentCard(description: AgentDescription, supportedInterfaces: AgentInterface[]): AgentCard {
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
    defaultInputModes: defaultInputModes ?? [...DEFAULT_MEDIA_MODES],
    defaultOutputModes: defaultOutputModes ?? [...DEFAULT_MEDIA_MODES],
    skills: skills?.length ? skills : [createDefaultSkill(name, text)],
    ...rest,
  };
}

/** A card must name at least one skill (A2A §5.7): an agent that lists none has itself as its skill. */
function createDefaultSkill(name: string, description: string): AgentSkill {
  return { id: name, name, description: description || name, tags: ["agent"] };
}
