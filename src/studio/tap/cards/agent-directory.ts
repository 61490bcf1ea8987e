import {
  isObject,
  STREAM_CURSOR_EXTENSION_URI,
  stripTrailingCharacters,
  type JsonObject,
} from "../../../protocol/index.ts";
import { listCardInterfaces } from "./rewrite-card-urls.ts";
import { parseInterfaceAddress, toCanonicalOrigin } from "./parse-interface-address.ts";

/** An agent behind the tap. */
export interface TappedAgent {
  /** Name in the record: the name that the user chose, the name of the card, or the host. */
  readonly name: string;
  /** Whether the agent's SSE ids are sequence numbers of the task's log. */
  readonly hasLogEventIds: boolean;
}

interface DirectoryEntry extends TappedAgent {
  readonly origin: string;
  readonly path: string;
  readonly isNamedByUser: boolean;
}

/** The agents behind the tap, by the addresses of their interfaces. */
export class AgentDirectory {
  readonly #entries: DirectoryEntry[] = [];

  /** Adds a target of the user. Without a name, the name of its card becomes its name. */
  addTarget(name: string | undefined, url: URL): void {
    this.#put({
      name: name ?? url.host,
      hasLogEventIds: false,
      origin: toCanonicalOrigin(url),
      path: stripTrailingCharacters(url.pathname, "/"),
      isNamedByUser: name !== undefined,
    });
  }

  /** Adds the agent of a card that the tap received from `cardUrl`, and returns its name in the record. */
  addCard(card: JsonObject, cardUrl: URL): string {
    const cardPath = cardUrl.pathname.replace(/\/\.well-known\/[^/]*$/, "");
    const cardName = typeof card["name"] === "string" ? card["name"] : cardUrl.host;
    const cardOrigin = toCanonicalOrigin(cardUrl);
    const known = this.#find(cardOrigin, cardPath);
    const isNamedByUser = known?.isNamedByUser ?? false;
    const agent = {
      name: known && isNamedByUser ? known.name : cardName,
      hasLogEventIds: declaresStreamCursor(card),
      isNamedByUser,
    };
    const addresses = listCardInterfaces(card).flatMap(
      ({ url, binding }) => parseInterfaceAddress(url, binding) ?? [],
    );
    for (const { origin, path } of addresses) this.#put({ ...agent, origin, path });
    if (!isNamedByUser || known?.path === cardPath)
      this.#put({ ...agent, origin: cardOrigin, path: cardPath });
    return agent.name;
  }

  /** Finds the agent with the longest path that is a prefix of the path of a request. */
  findAgent(origin: string, path: string): TappedAgent {
    return this.#find(origin, path) ?? { name: new URL(origin).host, hasLogEventIds: false };
  }

  #find(origin: string, path: string): DirectoryEntry | undefined {
    let found: DirectoryEntry | undefined;
    for (const entry of this.#entries) {
      const isPrefix = path === entry.path || path.startsWith(`${entry.path}/`);
      if (entry.origin === origin && isPrefix && (!found || entry.path.length > found.path.length))
        found = entry;
    }
    // A host with one agent serves requests on all of its paths.
    const sameOrigin = this.#entries.filter((entry) => entry.origin === origin);
    const isOneAgent = new Set(sameOrigin.map(({ name }) => name)).size === 1;
    return found ?? (isOneAgent ? sameOrigin[0] : undefined);
  }

  #put(entry: DirectoryEntry): void {
    const index = this.#entries.findIndex(
      ({ origin, path }) => origin === entry.origin && path === entry.path,
    );
    if (index === -1) this.#entries.push(entry);
    else this.#entries[index] = entry;
  }
}

function declaresStreamCursor({ capabilities }: JsonObject): boolean {
  const extensions = isObject(capabilities) ? capabilities["extensions"] : undefined;
  return (
    Array.isArray(extensions) &&
    extensions.some((extension) => isObject(extension) && extension["uri"] === STREAM_CURSOR_EXTENSION_URI)
  );
}
