import { readFile } from "node:fs/promises";
import type { Runner } from "@google/adk";
import { defineOptionNames, pickOptions } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription } from "../../engine/index.ts";
import { A2AError, type AgentCard } from "../../protocol/index.ts";
import {
  createServer,
  LISTEN_OPTION_NAMES,
  SERVER_OPTION_NAMES,
  type ListenOptions,
  type Server,
  type ServerOptions,
} from "../../server/index.ts";
import { ADK_AGENT_OPTION_NAMES, type AdkAgentOptions, adkAgent, deriveAdkAgentId } from "./adk-agent.ts";
import type { AdkRunnableSource } from "./lazy-runner.ts";
import type { AdkRunner } from "./adk-structural-types.ts";

/** Options of `toA2a`. */
export interface ToA2aOptions extends ServerOptions, ListenOptions, Omit<AdkAgentOptions, "observer"> {
  /**
   * Members that override the generated agent card. The value may also be the path or URL of a JSON file with
   * these members.
   */
  agentCard?: Partial<AgentCard> | string | URL;
  /** ADK runner that runs the agent and that has its own services. Default: a new ADK runner. */
  runner?: Runner | AdkRunner | (() => Runner | AdkRunner | Promise<Runner | AdkRunner>);
}

const assertKnownOptions = defineOptionNames<ToA2aOptions>()(
  "toA2a",
  ...SERVER_OPTION_NAMES,
  LISTEN_OPTION_NAMES,
  ...ADK_AGENT_OPTION_NAMES,
  "agentCard runner",
);

/**
 * Serves an ADK agent over A2A. For example, `await toA2a(rootAgent).listen()` starts a server. In hosts that
 * use `Request` and `Response`, call the server's `fetch` method. By default, the server listens on port 8000
 * of the loopback interface. By default, the server stores tasks and sessions in one SQLite file
 * (`.colloquy/colloquy.db`). If the `store` option is the URL of a PostgreSQL database, tasks and sessions are in
 * this database. If the `store` option is `"memory"`, the server keeps tasks and sessions in memory. A custom `sessionService` works with any task store.
 */
export function toA2a(agent: AdkRunnableSource, options: ToA2aOptions = {}): Server {
  assertKnownOptions(options);
  const { agentCard, runner, port = 8000, host = "127.0.0.1", grpc = false } = options;
  const engineAgent = adkAgent(
    runner ?? agent,
    pickOptions<AdkAgentOptions>(options, ...ADK_AGENT_OPTION_NAMES),
  );
  const server = createServer(
    { [options.id ?? deriveAdkAgentId(agent) ?? "agent"]: withCardOverrides(engineAgent, agentCard) },
    pickOptions<ServerOptions>(options, ...SERVER_OPTION_NAMES),
  );
  return {
    store: server.store,
    replaceAgents: (agents) => server.replaceAgents(agents),
    maintenance: server.maintenance,
    listener: server.listener,
    fetch: (request, runtimeInfo) => server.fetch(request, runtimeInfo),
    listen: (listenOptions) => server.listen({ port, host, grpc, ...listenOptions }),
    processDueWork: (workOptions) => server.processDueWork(workOptions),
    close: (closeOptions) => server.close(closeOptions),
  };
}

function withCardOverrides(agent: Agent, card: ToA2aOptions["agentCard"]): Agent {
  if (card === undefined) return agent;
  return {
    ...agent,
    describe: async (): Promise<AgentDescription> => {
      const [description, overrides] = await Promise.all([agent.describe(), readAgentCard(card)]);
      return mergeDescription(description, overrides);
    },
  };
}

/** Members of a 0.3 agent card that describe the earlier server. */
const MEMBERS_OF_EARLIER_CARDS = [
  "additionalInterfaces",
  "preferredTransport",
  "protocolVersion",
  "security",
  "supportsAuthenticatedExtendedCard",
  "url",
];

/**
 * Merges an agent card into a description. Only the server knows the interfaces and signatures of its card. The security
 * schemes of a 0.3 agent card have another format, and the server adds its own.
 */
function mergeDescription(description: AgentDescription, overrides: Partial<AgentCard>): AgentDescription {
  const { supportedInterfaces: _, signatures: __, capabilities, ...members } = overrides;
  const isEarlierCard = MEMBERS_OF_EARLIER_CARDS.some((name) => name in members);
  const ignored = isEarlierCard ? [...MEMBERS_OF_EARLIER_CARDS, "securitySchemes"] : [];
  const own = Object.fromEntries(Object.entries(members).filter(([name]) => !ignored.includes(name)));
  const earlierCapabilities: { stateTransitionHistory?: boolean } & AgentCard["capabilities"] = {
    ...capabilities,
  };
  const { stateTransitionHistory: ___, ...ownCapabilities } = earlierCapabilities;
  const extensions = new Map(
    [...(description.capabilities?.extensions ?? []), ...(capabilities?.extensions ?? [])].map(
      (extension) => [extension.uri, extension],
    ),
  );
  return {
    ...description,
    ...own,
    capabilities: { ...description.capabilities, ...ownCapabilities, extensions: [...extensions.values()] },
  };
}

async function readAgentCard(card: NonNullable<ToA2aOptions["agentCard"]>): Promise<Partial<AgentCard>> {
  if (typeof card === "object" && !(card instanceof URL)) return card;
  const location = String(card);
  try {
    const json = /^https?:/.test(location)
      ? await (await fetch(location)).text()
      : await readFile(card, "utf8");
    return JSON.parse(json) as Partial<AgentCard>;
  } catch (cause) {
    throw new A2AError("INTERNAL", `Cannot read the agent card at ${location}. Check the path or URL.`, {
      cause,
    });
  }
}
