import { A2AError, deriveAgentId, MAX_URL_LENGTH } from "../../protocol/index.ts";
import { CardBudget } from "./card-budget.ts";
import { createRemoteAgent, type RemoteAgent, type RemoteUrlRules } from "./remote-agent.ts";
import type { Workspace } from "./workspace.ts";

/** Maximum number of remote agents that one user adds. */
const MAX_ADDED_AGENTS = 50;

/** Rules for the URLs of remote agents. */
export interface RemoteAgentRules extends RemoteUrlRules {
  /** URLs that the operator of the console has named. The console may call their hosts, also private hosts. */
  readonly startUrls: readonly string[];
}

/** The remote agents of a workspace: the agents of the start of the console, and the agents that the user has added. */
export class RemoteAgentRegistry {
  readonly #workspace: Workspace;
  readonly #rules: RemoteAgentRules;
  readonly #agents = new Map<string, RemoteAgent>();
  readonly #addedIds = new Set<string>();
  readonly #cardBudget = new CardBudget();

  constructor(workspace: Workspace, rules: RemoteAgentRules) {
    this.#workspace = workspace;
    this.#rules = rules;
    for (const url of rules.startUrls) {
      const host = URL.parse(url)?.hostname.replaceAll(/[[\]]/g, "") ?? "";
      const allowPrivate = rules.allowPrivate === true || [host, ...(rules.allowPrivate || [])];
      this.#create(url, { ...rules, allowPrivate });
    }
  }

  get agents(): ReadonlyMap<string, RemoteAgent> {
    return this.#agents;
  }

  /** Adds an agent by a URL that a page names. Returns the existing agent if the URL is known. */
  add(url: string, reservedIds: ReadonlySet<string>): RemoteAgent {
    if (this.#addedIds.size >= MAX_ADDED_AGENTS)
      throw new A2AError(
        "RESOURCE_EXHAUSTED",
        `You have added ${MAX_ADDED_AGENTS} agents already; remove one of them.`,
      );
    return this.#create(url, this.#rules, reservedIds, true);
  }

  /** Removes an agent that the user has added, together with its credentials. */
  remove(id: string): void {
    if (!this.#addedIds.delete(id))
      throw new A2AError(
        "NOT_FOUND",
        `You have not added the agent ${id.slice(0, 100)}; only added agents can be removed.`,
      );
    this.#agents.delete(id);
    this.#workspace.credentials.deleteCredentials(id);
    this.#cardBudget.release(id);
  }

  #create(
    text: string,
    rules: RemoteUrlRules,
    reservedIds: ReadonlySet<string> = new Set(),
    isAdded = false,
  ): RemoteAgent {
    const url = normalizeUrl(text);
    const known = [...this.#agents.values()].find((agent) => agent.url === url);
    if (known) return known;
    const id = chooseAgentId(url, (candidate) => this.#agents.has(candidate) || reservedIds.has(candidate));
    const agent = createRemoteAgent(id, url, rules, {
      workspace: this.#workspace,
      cardBudget: isAdded ? this.#cardBudget : undefined,
    });
    this.#agents.set(id, agent);
    if (isAdded) this.#addedIds.add(id);
    return agent;
  }
}

/** Returns the URL with a scheme. Throws INVALID_PARAMS if the text is no HTTP URL, or if the URL is too long. */
function normalizeUrl(text: string): string {
  const url = text.length > MAX_URL_LENGTH ? undefined : parseUrl(text);
  if (url && url.length <= MAX_URL_LENGTH) return url;
  const description = `must be an HTTP URL without a password, such as http://localhost:4120, with at most ${MAX_URL_LENGTH} characters`;
  throw A2AError.invalidParams([{ field: "url", description }]);
}

function parseUrl(text: string): string | undefined {
  const isLocal = /^(localhost|127\.|\[::1\])/i.test(text);
  const url = URL.parse(
    /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${isLocal ? "http" : "https"}://${text}`,
  );
  if (
    url &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === ""
  )
    return url.href;
  return undefined;
}

/** Returns a readable id that is the same after a restart of the console, unless another agent has it. */
function chooseAgentId(url: string, isTaken: (id: string) => boolean): string {
  const { host, pathname } = new URL(url);
  const id = deriveAgentId(`${host}${pathname}`);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? id : `${id}-${number}`;
    if (!isTaken(candidate)) return candidate;
  }
}
