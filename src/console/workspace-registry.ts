import { Workspace } from "./workspace.ts";

/** Maximum number of users whose workspaces the console keeps. */
const MAX_WORKSPACES = 32;

/** The workspaces of the console by user. The workspace that was not used for the longest time is removed first. */
export class WorkspaceRegistry {
  readonly #createWorkspace: () => Workspace;
  readonly #workspaces = new Map<string, Workspace>();

  constructor(createWorkspace: () => Workspace) {
    this.#createWorkspace = createWorkspace;
  }

  open(userKey: string): Workspace {
    const workspace = this.#workspaces.get(userKey) ?? this.#createWorkspace();
    this.#workspaces.delete(userKey);
    this.#workspaces.set(userKey, workspace);
    for (const [key, oldest] of this.#workspaces) {
      if (this.#workspaces.size <= MAX_WORKSPACES) break;
      oldest.close();
      this.#workspaces.delete(key);
    }
    return workspace;
  }

  entries(): Iterable<[userKey: string, Workspace]> {
    return this.#workspaces;
  }

  close(): void {
    for (const workspace of this.#workspaces.values()) workspace.close();
    this.#workspaces.clear();
  }
}
