import * as v1 from "../../wire/v1/index.ts";
import { computeSha256Hex } from "../../base/data-structures/index.ts";
import { systemClock, type Agent, type AgentDescription, type Caller } from "../../engine/index.ts";
import {
  A2AError,
  assertValidAgentCard,
  assertNoCardViolations,
  type AgentCapabilities,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
  isLoopbackHost,
} from "../../protocol/index.ts";
import { createUnauthenticatedError, type Authenticator } from "../auth/authenticator.ts";
import type { CardSigningOptions } from "./card-signing.ts";
import { addServerExtensions } from "../server-extensions.ts";
import type { HttpReply, HttpRequest, RequestMetadata } from "../http-exchange.ts";
import { DEFAULT_MEDIA_MODES } from "../input-modes.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import { loadV03 } from "../bindings/load-v0-3.ts";

const DEFAULT_MAX_AGE_SECONDS = 300;
/**
 * Maximum number of cached agent cards. Most servers need only a few cached cards, because clients use only
 * one or two origins.
 */
const MAX_RENDERED_CARDS = 64;

/** An agent card for one origin, encoded in a card format. */
interface RenderedCard {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly etag: string;
  /** Time of the last change to the agent card, in milliseconds since 1970, rounded down to seconds. */
  readonly modifiedAt: number;
}

/** Options for the members that the server adds to an agent card. */
export interface AgentCardOptions extends CardFormatOptions {
  /** Maximum time in seconds for which clients may cache the agent card. Default: 300. */
  readonly cardMaxAgeSeconds?: number | undefined;
  /** URL path of the agent, for example `/a2a/weather`. */
  readonly path: string;
  /** Base URL for the URLs in the agent card. The default base URL is the origin of the request. */
  readonly publicUrl?: string | undefined;
  /**
   * Declares the server's authentication schemes in the agent card. A server without authentication has no
   * authenticator.
   */
  readonly authenticator?: Authenticator | undefined;
  /** Tenant that every request must contain. */
  readonly tenant?: string | undefined;
  /**
   * Whether the server sends push notifications. An agent's description can disable push notifications for
   * that agent.
   */
  readonly pushNotifications?: boolean;
  /** Whether the server recognizes repeated messages by their `messageId`. */
  readonly deduplicatesMessages?: boolean;
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[] | undefined;
}

/**
 * Function that returns further interfaces of an agent, such as gRPC interfaces. The parameter `origin` is
 * the origin that the client used to reach the server.
 */
type AdditionalAgentInterfaceProvider = (
  origin: string,
  tenant: string | undefined,
) => readonly AgentInterface[];

/**
 * Publishes the agent card of one agent. The publisher encodes and signs the agent card only once per origin
 * and card format.
 */
export class AgentCardPublisher {
  #agent: Agent;
  readonly #options: AgentCardOptions;
  readonly #renderedCards = new Map<string, RenderedCard>();
  #modifiedAt: number;
  #interfaceProvider: AdditionalAgentInterfaceProvider = () => [];
  #description: AgentDescription | Promise<AgentDescription> | undefined;

  constructor(agent: Agent, options: AgentCardOptions, now: number = systemClock.now()) {
    this.#agent = agent;
    this.#options = options;
    this.#modifiedAt = floorToSecond(now);
  }

  /**
   * Returns the agent's description with the capabilities and security schemes of this server. If
   * `loadDescription` fails, the next call loads the agent's description again. Throws synchronously if the
   * agent returns an invalid description synchronously.
   */
  loadDescription(): AgentDescription | Promise<AgentDescription> {
    if (this.#description) return this.#description;
    const agent = this.#agent;
    const loaded = agent.describe();
    if (!("then" in loaded)) return (this.#description = this.#completeDescription(agent, loaded));
    const pending = loaded.then((declared) => {
      const description = this.#completeDescription(agent, declared);
      if (this.#description === pending) this.#description = description;
      return description;
    });
    this.#description = pending;
    pending.catch(() => {
      if (this.#description === pending) this.#description = undefined;
    });
    return pending;
  }

  /**
   * Returns the description of another agent with the capabilities and security schemes of this server. Rejects if the
   * description is not a valid agent card.
   */
  async describeAgent(agent: Agent): Promise<AgentDescription> {
    return this.#completeDescription(agent, await agent.describe());
  }

  /** Publishes the card of another agent, whose description `describeAgent` has returned. */
  replaceAgent(agent: Agent, description: AgentDescription, now: number = systemClock.now()): void {
    this.#agent = agent;
    const isSameCard = JSON.stringify(description) === JSON.stringify(this.#description);
    this.#description = description;
    if (isSameCard) return;
    this.#renderedCards.clear();
    this.#modifiedAt = floorToSecond(now);
  }

  #completeDescription(agent: Agent, declared: AgentDescription): AgentDescription {
    const { authenticator } = this.#options;
    // The server adds its schemes and requirements only together: requirements must name schemes of the same
    // source.
    const isDeclared = declared.securitySchemes !== undefined || declared.securityRequirements !== undefined;
    const extended = agent.describeExtended && authenticator ? { extendedAgentCard: true } : {};
    const capabilities: AgentCapabilities = {
      streaming: true,
      pushNotifications: true,
      ...extended,
      ...declared.capabilities,
    };
    // An agent cannot offer push notifications that the server does not send.
    if (!this.#options.pushNotifications) delete capabilities.pushNotifications;
    const extensions = addServerExtensions(capabilities, agent, this.#options);
    if (extensions.length > 0) capabilities.extensions = extensions;
    const description = {
      ...(isDeclared ? {} : authenticator?.securityDeclaration),
      ...declared,
      capabilities,
    };
    assertValidCardDescription(description);
    return description;
  }

  /**
   * Sets the function that returns further interfaces, such as gRPC interfaces. Clears the cache of agent
   * cards.
   */
  setAdditionalInterfaceProvider(provider: AdditionalAgentInterfaceProvider): void {
    this.#interfaceProvider = provider;
    this.#renderedCards.clear();
  }

  /** Returns the public agent card for clients that reach the server at `origin`. */
  async buildCard(origin: string): Promise<AgentCard> {
    return this.#assembleCard(await this.loadDescription(), origin, this.#options.tenant);
  }

  /** Returns the extended agent card for an authenticated caller (A2A §3.1.11). */
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
   * Returns the reply to a GET or HEAD request for the agent card, including conditional requests (A2A
   * §8.6.1, RFC 9110 §13).
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
    const body = JSON.stringify(await encodeCardInFormat(await this.buildCard(origin), format));
    const etag = `"${computeSha256Hex(body).slice(0, 32)}"`;
    const headers = {
      etag,
      "cache-control": `public, max-age=${this.#options.cardMaxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS}`,
      "last-modified": new Date(this.#modifiedAt).toUTCString(),
      ...(this.#options.versions.length > 1 ? { vary: "A2A-Version" } : {}),
    };
    const rendered = { body, headers, etag, modifiedAt: this.#modifiedAt };
    if (this.#renderedCards.size >= MAX_RENDERED_CARDS) this.#renderedCards.clear();
    this.#renderedCards.set(cacheKey, rendered);
    return rendered;
  }
}

/** The header `Last-Modified` has a precision of one second. */
function floorToSecond(timestamp: number): number {
  return Math.floor(timestamp / 1000) * 1000;
}

/**
 * Throws an error if the origin comes from the Host header, except for loopback origins. Otherwise, an
 * attacker could set the Host header and obtain a signed agent card with the attacker's address.
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

/** Throws an error if an agent's description does not produce a valid agent card. */
function assertValidCardDescription(description: AgentDescription): void {
  const interfaces = buildHttpInterfaces("http://localhost", ["1.0"], undefined);
  // The JSON form is validated, because that form is published.
  const json: unknown = JSON.parse(JSON.stringify(toAgentCard(description, interfaces)));
  assertNoCardViolations(description.name, v1.validateAgentCard(json));
  assertValidAgentCard(description);
}

/** Returns true if the client has the current agent card. `If-None-Match` overrides `If-Modified-Since`. */
function isNotModified(request: HttpRequest, { etag, modifiedAt }: RenderedCard): boolean {
  const tags = request.header("if-none-match");
  if (tags !== undefined) {
    return tags.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.header("if-modified-since") ?? "");
  return since >= modifiedAt;
}

/** Returns a complete agent card. Members that the description omits get default values. */
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
 * Creates a skill for an agent that declares no skills, because an agent card must contain at least one skill
 * (A2A §5.7).
 */
function createDefaultSkill(name: string, description: string): AgentSkill {
  return { id: name, name, description: description || name, tags: ["agent"] };
}

/**
 * Returns the JSON-RPC and HTTP+JSON interfaces of an agent for each A2A version, in order of preference. The
 * JSON-RPC and HTTP+JSON interfaces have the same `url`. For HTTP+JSON, A2A 0.3 clients append `/v1/…` to
 * this `url`. A2A 0.3 interfaces have no `tenant`.
 */
function buildHttpInterfaces(
  url: string,
  versions: readonly ProtocolVersion[],
  tenant: string | undefined,
): AgentInterface[] {
  return versions.flatMap((protocolVersion) => {
    const common = { protocolVersion, ...(tenant && protocolVersion === "1.0" ? { tenant } : {}) };
    return [
      { url, protocolBinding: "JSONRPC", ...common },
      { url, protocolBinding: "HTTP+JSON", ...common },
    ];
  });
}

/** Format of an agent card. A `hybrid` agent card is an object that A2A 1.0 and 0.3 clients can both read. */
export type CardFormat = "v1" | "v0.3" | "hybrid";

/** Options that determine the format of an agent card. */
interface CardFormatOptions {
  /** A2A versions that the server accepts, in order of preference. */
  readonly versions: readonly ProtocolVersion[];
  /**
   * Format of the agent card for requests without an A2A version. The default format is `hybrid` if the
   * server accepts two A2A versions.
   */
  readonly cardFormat?: CardFormat | undefined;
}

const FORMAT_BY_VERSION: Readonly<Record<ProtocolVersion, CardFormat>> = { "1.0": "v1", "0.3": "v0.3" };

/**
 * Returns the card format for the A2A version of a request, or the default card format if the server does not
 * support the version.
 */
function negotiateCardFormat(
  request: RequestMetadata,
  { versions, cardFormat }: CardFormatOptions,
): CardFormat {
  const requested =
    request.header("a2a-version") ?? new URLSearchParams(request.query).get("A2A-Version") ?? "";
  const version = versions.find(
    (supported) => requested.trim() === supported || requested.trim().startsWith(`${supported}.`),
  );
  if (version) return FORMAT_BY_VERSION[version];
  return cardFormat ?? (versions.length > 1 ? "hybrid" : FORMAT_BY_VERSION[versions[0] ?? "1.0"]);
}

/** Encodes an agent card in a card format. */
async function encodeCardInFormat(card: AgentCard, format: CardFormat): Promise<object> {
  if (format === "v1") return card;
  const { toCard03, toHybridCard } = await loadV03();
  return format === "hybrid" ? toHybridCard(card) : toCard03(card);
}

/**
 * Signs an agent card with every signing key, and returns the card with the added signatures (A2A §8.4). If
 * an agent card contains empty values, each key adds two signatures. One signature omits empty values, as the
 * official SDKs do. The other signature includes empty values, as the specification requires.
 */
export async function signCard(
  card: AgentCard,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<AgentCard> {
  // Servers without signing keys do not load the cryptography.
  const { addCardSignatures } = await import("./card-signing.ts");
  return await addCardSignatures(card, cardSigning);
}
