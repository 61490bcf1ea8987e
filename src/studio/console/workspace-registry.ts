import type { ConsoleUser } from "./console-user.ts";
import type { RemoteAgentRegistry } from "./remote-agent-registry.ts";
import type { Workspace } from "./workspace.ts";

/** Maximum number of users whose workspaces the console keeps. */
const MAX_WORKSPACES = 32;

/** The workspace of a user, with its remote agents. */
export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly remotes: RemoteAgentRegistry;
  /** The user at the latest request, who determines the visible lines. */
  user?: ConsoleUser;
}

/** The workspaces of the console by user. The workspace that was not used for the longest time is removed first. */
export class WorkspaceRegistry {
  readonly #createWorkspace: () => OpenWorkspace;
  readonly #workspaces = new Map<string, OpenWorkspace>();

  constructor(createWorkspace: () => OpenWorkspace) {
    this.#createWorkspace = createWorkspace;
  }

  open(userKey: string): OpenWorkspace {
    const opened = this.#workspaces.get(userKey) ?? this.#createWorkspace();
    this.#workspaces.delete(userKey);
    this.#workspaces.set(userKey, opened);
    for (const [key, { workspace }] of this.#workspaces) {
      if (this.#workspaces.size <= MAX_WORKSPACES) break;
      workspace.close();
      this.#workspaces.delete(key);
    }
    return opened;
  }

  list(): Iterable<OpenWorkspace> {
    return this.#workspaces.values();
  }

  close(): void {
    for (const { workspace } of this.#workspaces.values()) workspace.close();
    this.#workspaces.clear();
  }
}
