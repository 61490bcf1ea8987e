import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Agent } from "../../engine/index.ts";
import { createServer, type ListenOptions, type Server, type ServerOptions } from "../../server/index.ts";
import type { RoleTarget } from "./a2a/role-runtime.ts";
import { createRoleAgent, type RoleAgentOptions } from "./a2a/role-agent.ts";
import type { Role } from "./role.ts";

/** A role to serve, with its own options, such as a model. */
export interface ServedRoleOptions extends Omit<RoleAgentOptions, "roleTargets"> {
  readonly role: Role;
}

/** Options for `serveRoles`. */
export interface ServeRolesOptions extends Omit<RoleAgentOptions, "model"> {
  /** Roles to serve, by role name. The roles use these names to address each other. */
  readonly roles: Readonly<Record<string, Role | ServedRoleOptions>>;
  /**
   * With `apart`, each role has a separate server and port. With `together`, all roles share one server.
   * Default: `apart`.
   */
  readonly serverLayout?: "apart" | "together";
  /**
   * Listen address of the first role server. Default: any free port of 127.0.0.1. If `port` is set, the
   * servers use consecutive ports that start at `port`.
   */
  readonly listenOptions?: Omit<ListenOptions, "grpc">;
  /** Options of the role servers. By default, role servers store tasks in memory. */
  readonly serverOptions?: ServerOptions;
}

const assertKnownOptions = defineOptionNames<ServeRolesOptions>()(
  "serveRoles",
  "clock connectOptions deadlineMs graceMs listenOptions newId",
  "observer protocol recorder requireCards roleTargets roles serverLayout serverOptions",
);

/** The running servers of all served roles. */
export interface ServedRoles {
  /** URL of each role, by role name. Pass `urls` to `createController` as `roleTargets`. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * Stops the roles and their servers. On shutdown, running tasks have `graceMs` milliseconds to finish.
   * Default: 2,000 ms.
   */
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/**
 * Serves roles as A2A agents and connects them to each other. `roleTargets` contains the locations of roles
 * that other processes serve.
 *
 * ```ts
 * const { urls, close } = await serveRoles({ roles: { planner, solver } });
 * const { reply } = await createController({ roleTargets: urls }).solve({ task: "What is 25 * 17?" });
 * ```
 */
export async function serveRoles(options: ServeRolesOptions): Promise<ServedRoles> {
  assertKnownOptions(options);
  const {
    roles,
    serverLayout = "apart",
    listenOptions = {},
    serverOptions = {},
    roleTargets = {},
    ...shared
  } = options;
  const urls: Record<string, string> = {};
  // The URLs are known once all servers listen. No role needs a URL before that.
  const targets: Record<string, RoleTarget> = { ...roleTargets };
  for (const name of Object.keys(roles)) targets[name] ??= () => urls[name] ?? "";
  const agents = Object.entries(roles).map(([name, entry]): [string, Agent] => {
    const { role, ...roleOptions } = "role" in entry ? entry : { role: entry };
    if (role.name !== name) throw createRoleNameMismatchError(name, role.name);
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

/**
 * Creates the error for a role whose name differs from its key in `roles`. Such a role would reject all
 * message cards, because the cards would be addressed to a different role name.
 */
function createRoleNameMismatchError(name: string, actualName: string): Error {
  return new Error(
    `The role with the key ${JSON.stringify(name)} has the name ${JSON.stringify(actualName)}. Serve it as { ${JSON.stringify(actualName)}: … }.`,
  );
}
