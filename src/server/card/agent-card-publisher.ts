import { createHash } from "node:crypto";
import type { Agent, AgentDescription, Caller } from "../../engine/index.ts";
import { isLoopbackHost } from "../../keys/index.ts";
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
import { buildHttpInterfaces } from "./agent-interfaces.ts";

/** Time in seconds for which clients may cache a card. */
const CACHE_MAX_AGE_SECONDS = 300;
/** Maximum number of cached cards. Most servers are reached under one or two origins only. */
const MAX_RENDERED_CARDS = 64;

/** An encoded card for one origin in one format. */
interface RenderedCard {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly etag: string;
  /** Time of the last change, in milliseconds since 1970, rounded down to seconds. */
  readonly modifiedAt: number;
}

/** Properties of a card that the server adds to the agent's description. */
export interface AgentCardOptions extends CardFormatOptions {
  /** URL path of the agent, for example `/a2a/weather`. */
  readonly path: string;
  /** Base URL of the URLs in the card. Default: the origin of the request. */
  readonly publicUrl?: string | undefined;
  /** The authentication of the server. The value is `undefined` when the server authenticates no requests. */
  readonly authenticator?: Authenticator | undefined;
  /** The tenant that every request must name. */
  readonly tenant?: string | undefined;
  /**
   * Whether the server sends push notifications. An agent can disable push notifications in its description.
   */
  readonly pushNotifications?: boolean;
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[] | undefined;
}

/** Returns additional interfaces of an agent for a client that reached the server under `origin`. */
type AgentInterfaceProvider = (origin: string, tenant: string | undefined) => readonly AgentInterface[];

/**
 * Publishes the card of one agent. The description is loaded once. The card is encoded and signed once for
 * each origin and format.
 */
export class AgentCardPublisher {
  readonly #agent: Agent;
  readonly #options: AgentCardOptions;
  readonly #renderedCards = new Map<string, RenderedCard>();
  readonly #modifiedAt: number;
  #interfaceProvider: AgentInterfaceProvider = () => [];
  #description: AgentDescription | Promise<AgentDescription> | undefined;

  constructor(agent: Agent, options: AgentCardOptions, now: number = Date.now()) {
    this.#agent = agent;
    this.#options = options;
    this.#modifiedAt = Math.floor(now / 1000) * 1000;
  }

  /**
   * Returns the agent's description, completed with the capabilities and security schemes of this server. The
   * description is loaded once, and again after a failure. Throws synchronously when a synchronous
   * description is invalid.
   */
  loadDescription(): AgentDescription | Promise<AgentDescription> {
    if (this.#description) return this.#description;
    const loaded = this.#agent.describe();
    if (!("then" in loaded)) return (this.#description = this.#completeDescription(loaded));
    const pending = loaded.then(
      (description) => (this.#description = this.#completeDescription(description)),
    );
    pending.catch(() => (this.#description = undefined));
    return (this.#description = pending);
  }

  /** Returns the description with the additions of this server. */
  #completeDescription(declared: AgentDescription): AgentDescription {
    const { authenticator } = this.#options;
    // The server adds its schemes and requirements only together: requirements must name schemes of the same
    // source.
    const isDeclared = declared.securitySchemes !== undefined || declared.securityRequirements !== undefined;
    const extended = this.#agent.describeExtended && authenticator ? { extendedAgentCard: true } : {};
    const capabilities: AgentCapabilities = {
      streaming: true,
      pushNotifications: true,
      ...extended,
      ...declared.capabilities,
    };
    // An agent cannot offer push notifications that the server does not send.
    if (!this.#options.pushNotifications) delete capabilities.pushNotifications;
    const description = {
      ...(isDeclared ? {} : authenticator?.securityDeclaration),
      ...declared,
      capabilities,
    };
    assertValidCardDescription(description);
    return description;
  }

  /** Sets the provider of interfaces other than HTTP, and discards cached cards. */
  setInterfaceProvider(provider: AgentInterfaceProvider): void {
    this.#interfaceProvider = provider;
    this.#renderedCards.clear();
  }

  /** Returns the public card for clients that reach the server under `origin`. */
  async buildCard(origin: string): Promise<AgentCard> {
    return this.#assembleCard(await this.loadDescription(), origin, this.#options.tenant);
  }

  /** Returns the extended card for an authenticated caller (A2A §3.1.11). */
  async buildExtendedCard(caller: Caller, origin: string): Promise<AgentCard> {
    const { authenticator, publicUrl = origin } = this.#options;
    if (!this.#agent.describeExtended) throw createNoExtendedCardError();
    if (caller.principal === "")
      throw authenticator?.createUnauthenticatedError() ?? createUnauthenticatedError();
    const description = await this.loadDescription();
    const extension = await this.#agent.describeExtended(caller);
    if (!extension) throw createNoExtendedCardError();
    const capabilities = { ...description.capabilities, ...extension.capabilities };
    const extended = { ...description, ...extension, capabilities };
    assertValidCardDescription(extended);
    return await this.#assembleCard(extended, publicUrl, caller.tenant);
  }

  async #assembleCard(
    description: AgentDescription,
    origin: string,
    tenant: string | undefined,
  ): Promise<AgentCard> {
    const { path, cardSigning, versions, publicUrl } = this.#options;
    if (cardSigning && origin !== publicUrl) assertTrustedOrigin(origin);
    const interfaces = [
      ...buildHttpInterfaces(origin + path, versions, tenant),
      ...this.#interfaceProvider(origin, tenant),
    ];
    const card = toAgentCard(description, interfaces);
    return cardSigning ? await signCard(card, cardSigning) : card;
  }

  /**
   * Returns the reply to a GET or HEAD request, including conditional requests (A2A §8.6.1, RFC 9110 §13).
   */
  async handle(request: HttpRequest, origin: string): Promise<HttpReply> {
    const card = await this.#renderCard(origin, negotiateCardFormat(request, this.#options));
    const { headers, body } = card;
    if (isNotModified(request, card)) return { status: 304, headers };
    return { status: 200, headers: { ...headers, "content-type": "application/json" }, body };
  }

  async #renderCard(origin: string, format: CardFormat): Promise<RenderedCard> {
    const cacheKey = `${format} ${origin}`;
    const cached = this.#renderedCards.get(cacheKey);
    if (cached) return cached;
    const body = JSON.stringify(encodeCard(await this.buildCard(origin), format));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const headers = {
      etag,
      "cache-control": `public, max-age=${CACHE_MAX_AGE_SECONDS}`,
      "last-modified": new Date(this.#modifiedAt).toUTCString(),
      ...(this.#options.versions.length > 1 ? { vary: "A2A-Version" } : {}),
    };
    const rendered = { body, headers, etag, modifiedAt: this.#modifiedAt };
    if (this.#renderedCards.size >= MAX_RENDERED_CARDS) this.#renderedCards.clear();
    this.#renderedCards.set(cacheKey, rendered);
    return rendered;
  }
}

/**
 * Throws for an origin that comes only from the Host header. Otherwise a client could choose the Host header,
 * obtain a signed card with an address of its choice, and mislead clients that trust the signature.
 */
function assertTrustedOrigin(origin: string): void {
  if (isLoopbackHost(URL.parse(origin)?.hostname ?? "")) return;
  const text = `This server does not sign a card for ${JSON.stringify(origin.slice(0, 100))}; set "publicUrl" to the public URL of the server.`;
  throw new A2AError("PERMISSION_DENIED", text);
}

function createNoExtendedCardError(): A2AError {
  const text = "This agent has no extended card for this caller; use the public card.";
  return new A2AError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", text);
}

/** Throws for a description that does not make a valid card. */
function assertValidCardDescription(description: AgentDescription): void {
  const interfaces = buildHttpInterfaces("http://localhost", ["1.0"], undefined);
  // The JSON form is validated, because that form is published.
  const json: unknown = JSON.parse(JSON.stringify(toAgentCard(description, interfaces)));
  assertNoCardViolations(description.name, v1.validateAgentCard(json));
  assertValidAgentCard(description);
}

/**
 * Returns true when the client has this version of the card. `If-None-Match` overrides `If-Modified-Since`.
 */
function isNotModified(request: HttpRequest, { etag, modifiedAt }: RenderedCard): boolean {
  const tags = request.header("if-none-match");
  if (tags !== undefined) {
    return tags.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.header("if-modified-since") ?? "");
  return since >= modifiedAt;
}

/** Returns a complete card with defaults for the members that the description omits. */
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

/**
 * Returns the skill of an agent that declares none, because a card requires at least one skill (A2A §5.7).
 */
function createDefaultSkill(name: string, description: string): AgentSkill {
  return { id: name, name, description: description || name, tags: ["agent"] };
}
