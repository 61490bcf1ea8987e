import type { JsonObject } from "../../../protocol/index.ts";
import type { TrafficWriter } from "../../../observe/trace/recording/index.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import { type InterfaceAddress, parseInterfaceAddress } from "./parse-interface-address.ts";
import { listCardInterfaces, rewriteCardUrls } from "./rewrite-card-urls.ts";

/** The port of the tap's listener for an address, or why the tap opens no port. */
export type InterfacePort = number | "foreign" | "excess";

/** Returns the port of the tap's listener for an address, and starts the listener if necessary. */
export type OpenListenerPort = (address: InterfaceAddress) => Promise<InterfacePort>;

/** Cards are of strangers, and each warning is remembered. */
const MAX_WARNINGS = 100;

/** Directs the interfaces of agent cards to the tap, and records the cards. */
export class CardRewriter {
  readonly #directory: AgentDirectory;
  readonly #writer: TrafficWriter;
  readonly #openPort: OpenListenerPort;
  readonly #warn: (text: string) => void;
  readonly #recordedCards = new Set<string>();
  readonly #warnings = new Set<string>();

  constructor(parts: {
    readonly directory: AgentDirectory;
    readonly writer: TrafficWriter;
    readonly openPort: OpenListenerPort;
    /** Called once for each different warning. */
    readonly warn: (text: string) => void;
  }) {
    this.#directory = parts.directory;
    this.#writer = parts.writer;
    this.#openPort = parts.openPort;
    this.#warn = parts.warn;
  }

  /** Returns the card for a client that reaches the tap under `clientHostname`. */
  async rewrite(card: JsonObject, cardUrl: URL, clientHostname: string): Promise<JsonObject> {
    const agent = this.#directory.addCard(card, cardUrl);
    const urls = await this.#mapInterfaceUrls(card, agent, clientHostname);
    const { card: rewritten, changes } = rewriteCardUrls(card, (url, binding) =>
      urls.get(`${binding} ${url}`),
    );
    if ("signatures" in card && !("signatures" in rewritten))
      this.#warnOnce(
        `The tap removes the signatures from the card of ${agent}, because it changes the URLs. Clients that require a signature reject the card.`,
      );
    this.#record(agent, cardUrl, card, changes);
    return rewritten;
  }

  async #mapInterfaceUrls(
    card: JsonObject,
    agent: string,
    clientHostname: string,
  ): Promise<ReadonlyMap<string, string>> {
    const urls = new Map<string, string>();
    for (const { url, binding } of listCardInterfaces(card)) {
      const address = parseInterfaceAddress(url, binding);
      const port = address ? await this.#openPort(address) : "foreign";
      if (typeof port === "number")
        urls.set(`${binding} ${url}`, replaceHostAndPort(url, clientHostname, port));
      else if (port === "excess")
        this.#warnOnce(
          `The tap does not record all interfaces of ${agent}, because its card has too many addresses. To record an interface, add --to with its URL.`,
        );
      else
        this.#warnOnce(
          `The tap does not record the ${binding} interface of ${agent} at ${url}, because no target has this host. To record the interface, add --to with its URL.`,
        );
    }
    return urls;
  }

  #record(agent: string, cardUrl: URL, card: JsonObject, changes: readonly string[]): void {
    const key = JSON.stringify([agent, card]);
    if (this.#recordedCards.has(key)) return;
    this.#recordedCards.add(key);
    this.#writer.write({
      kind: "agent",
      agent,
      url: cardUrl.href,
      card,
      ...(changes.length > 0 ? { changes } : {}),
    });
  }

  #warnOnce(text: string): void {
    if (this.#warnings.has(text) || this.#warnings.size >= MAX_WARNINGS) return;
    this.#warnings.add(text);
    this.#warn(text);
  }
}

/** Replaces scheme, host, and port of a URL. A gRPC address without a scheme remains without a scheme. */
function replaceHostAndPort(url: string, hostname: string, port: number): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]{0,32}:\/\/)?[^/?#]*(.*)$/is.exec(url) ?? [];
  return `${scheme === "" ? "" : "http://"}${hostname}:${port}${rest}`;
}
