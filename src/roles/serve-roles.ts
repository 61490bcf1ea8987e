import type { Agent } from "../engine/index.ts";
import { createServer, type ListenOptions, type Server, type ServerOptions } from "../server/index.ts";
import type { RoleTarget } from "./a2a/role-client-pool.ts";
import { createRoleAgent, type RoleAgentOptions } from "./a2a/role-agent.ts";
import type { Role } from "./role.ts";

/** A role and what is its own: a model, say. */
export interface ServedRoleOptions extends Omit<RoleAgentOptions, "roleTargets"> {
  readonly role: Role;
}

export interface ServeRolesOptions extends Omit<RoleAgentOptions, "model" | "agentCard"> {
  /** The roles, under the names by which the others know them. */
  readonly roles: Readonly<Record<string, Role | ServedRoleOptions>>;
  /** `together`: one server for all. Default `apart`: each has its own, on a port of its own. */
  readonly serverLayout?: "apart" | "together";
  /** Where they listen. Default: any free port of 127.0.0.1; a `port` is that of the first, and the next ones follow. */
  readonly listenOptions?: Omit<ListenOptions, "grpc">;
  /** How they are served. Default: tasks in memory. */
  readonly serverOptions?: ServerOptions;
}

/** Roles that are served. */
export interface ServedRoles {
  /** Where each is; what `createController` takes as `roleTargets`. */
  readonly urls: Readonly<Record<string, string>>;
  /** Stops the roles, which have `graceMs` (default 2,000) to end by themselves, and the servers. */
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/**
 * Puts roles on the network, where they find each other. Roles that are elsewhere are given in `roleTargets`.
 *
 * ```ts
 * const { urls, close } = await serveRoles({ roles: { planner, solver } });
 * const { reply } = await createController({ links: urls }).solve({ task: "What is 25 * 17?" });
 * ```
 */
export async function serveRoles(options: ServeRolesOptions): Promise<ServedRoles> {
  const {
    roles,
    serverLayout = "apart",
    listenOptions = {},
    serverOptions = {},
    roleTargets = {},
    ...shared
  } = options;
  const urls: Record<string, string> = {};
  // Known only when all of them listen, and not asked for before.
  const targets: Record<string, RoleTarget> = { ...roleTargets };
  for (const name of Object.keys(roles)) targets[name] ??= () => urls[name] ?? "";
  const agents = Object.entries(roles).map(([name, entry]): [string, Agent] => {
    const { role, ...roleOptions } = "role" in entry ? entry : { role: entry };
    if (role.name !== name) throw createNameMismatchError(name, role.name);
    return [name, createRoleAgent(role, { ...shared, ...roleOptions, roleTargets: targets })];
  });
  const groups = serverLayout === "together" ? [agents] : agents.map((agent) => [agent]);
  const servers: Server[] = [];
  const close: ServedRoles["close"] = async (closeOptions) => {
    await Promise.all(servers.map((server) => server.close(closeOptions)));
  };
  try {
    for (const [index, group] of groups.entries()) {
      const server = createServer(Object.fromEntries(group), {
        store: "memory",
        push: false,
        ...serverOptions,
      });
      servers.push(server);
      const port = listenOptions.port ? listenOptions.port + index : 0;
      const { agents } = await server.listen({ ...listenOptions, port });
      for (const { id, url } of agents) urls[id] = url;
    }
  } catch (error) {
    await close({ graceMs: 0 });
    throw error;
  }
  return { urls, close };
}

/** A card for one would be refused by the other. */
function createNameMismatchError(name: string, actualName: string): Error {
  return new Error(
    `The role under the name ${JSON.stringify(name)} calls itself ${JSON.stringify(actualName)}; serve it as { ${JSON.stringify(actualName)}: … }.`,
  );
}
