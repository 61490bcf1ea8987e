import type { A2AClient } from "../../client/index.ts";
import { getSharedRedactor } from "../../observe/logging/index.ts";
import type { TrafficModel } from "../../observe/trace/index.ts";
import { A2AError, type AgentCard } from "../../protocol/index.ts";
import type { AgentSource } from "./agent-source.ts";
import type { ConsoleAgent, ConsoleAgentStatus } from "../console-api/index.ts";
import { createCardReport } from "./card-report.ts";
import type { CardKeySources } from "./check-card-signatures.ts";
import { describeCard, describeUnknownCard } from "./describe-card.ts";

/** Number of messages that the console reads of a task of an agent of A2A 0.3. */
const MAX_HISTORY_OF_0_3 = 1_000;

/** Returns whether an action only reads. The traffic of the pages does not contain their own reads. */
export function isReadAction(action: string): boolean {
  return action === "read card" || action === "GetTask";
}

/** An agent that the client can connect to. */
export interface ConnectableAgent {
  readonly id: string;
  readonly url: string;
  readonly isOwn: boolean;
  /** Returns the model of the lines that the console has observed. */
  readonly readModel: () => TrafficModel;
  /** Names of the security schemes for which the console holds credentials. Default: none. */
  readonly listCredentials?: () => readonly string[];
  /** Opens a client for one action, which may concern a task. The action `read card` checks the connection. */
  readonly openClient: (action: string, taskId?: string) => Promise<A2AClient>;
  /** Fetches the card, without the record of the traffic. */
  readonly findServedCard: () => Promise<{
    readonly card: AgentCard;
    readonly json: unknown;
    readonly url: string;
  }>;
  /** Keys for the signatures of the card. */
  readonly cardKeySources: CardKeySources;
  /** Returns the name of the agent in its lines. Default: the name in the card. */
  readonly findName?: () => string | undefined;
  /** Called after an error that says something about the connection to the agent. */
  readonly onConnectionError?: () => void;
  readonly readTaskLines: (taskId: string) => AsyncIterable<string>;
}

/** A source that remembers the last error of its connection. */
export interface ConnectedAgentSource extends AgentSource {
  /** Forgets the last error, for example because the user has entered other credentials. */
  forgetError(): void;
}

/**
 * Creates the source for an agent of the own server or for a remote agent. All requests go through the client, which
 * records them. Each action opens a client, so that the action has the credentials of its user.
 */
export function createConnectedAgentSource(agent: ConnectableAgent): ConnectedAgentSource {
  const { id, url, isOwn, readModel } = agent;
  let lastError: A2AError | undefined;

  /** Runs an action and keeps its error for the status of the agent. */
  const observe = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      lastError = undefined;
      return result;
    } catch (error) {
      if (error instanceof A2AError && CONNECTION_ERRORS.has(error.reason)) {
        lastError = error;
        agent.onConnectionError?.();
      }
      throw error;
    }
  };
  /** Keeps an earlier error, because a card is often public although the agent requires credentials. */
  const openClient = async (action: string, taskId?: string): Promise<A2AClient> => {
    const earlierError = lastError;
    const client = await observe(() => agent.openClient(action, taskId));
    if (earlierError?.reason === "UNAUTHENTICATED") lastError = earlierError;
    return client;
  };
  /** Yields the events of a stream like `observe`. */
  const observeStream = async function* <T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value, done } = await observe(() => iterator.next());
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  };

  return {
    id,
    describe: async () => {
      const about = {
        id,
        url,
        isOwn,
        isRecorded: false,
        credentials: agent.listCredentials?.() ?? [],
      };
      try {
        const client = await openClient("read card");
        const { card, agentInterface } = client;
        const name = agent.findName?.() ?? card.name;
        return { ...about, ...describeCard(card, agentInterface, isOwn), name, ...describeStatus(lastError) };
      } catch (error) {
        return { ...about, ...describeUnknownCard(url), ...describeStatus(A2AError.from(error)) };
      }
    },
    reportCard: async () => {
      const { card, json, url: cardUrl } = await observe(() => agent.findServedCard());
      return createCardReport({ card, json, cardUrl }, readModel(), agent.cardKeySources);
    },
    readTask: async (taskId) => {
      const client = await openClient("GetTask", taskId);
      // @a2a-js/sdk 0.3 returns no history without a length.
      const isOlderVersion = client.agentInterface.protocolVersion.startsWith("0.");
      const options = isOlderVersion ? { historyLength: MAX_HISTORY_OF_0_3 } : {};
      return await observe(() => client.tasks.get(taskId, options));
    },
    readTaskLines: (taskId) => agent.readTaskLines(taskId),
    async *sendMessage({ message, ...options }, signal) {
      const client = await openClient("SendStreamingMessage", message.taskId);
      yield* observeStream(client.stream(message, { ...options, signal }));
    },
    async *subscribe(taskId, after, signal) {
      const client = await openClient("SubscribeToTask", taskId);
      yield* observeStream(
        client.tasks.subscribe(taskId, { signal, ...(after === undefined ? {} : { after }) }),
      );
    },
    cancelTask: async (taskId) => {
      const client = await openClient("CancelTask", taskId);
      return await observe(() => client.tasks.cancel(taskId));
    },
    forgetError: () => {
      lastError = undefined;
    },
    registerWebhook: async (taskId, webhook) => {
      const client = await openClient("CreateTaskPushNotificationConfig", taskId);
      const config = { ...webhook, id: crypto.randomUUID() };
      return (await observe(() => client.tasks.pushConfigs.create(taskId, config))).id ?? config.id;
    },
  };
}

/** Errors that say something about the connection to the agent, and not about one task. */
const CONNECTION_ERRORS: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "INVALID_AGENT_RESPONSE",
  "NOT_FOUND",
  "INTERNAL",
]);

function describeStatus(error: A2AError | undefined): Pick<ConsoleAgent, "status" | "error"> {
  if (!error) return { status: "connected" };
  const status: ConsoleAgentStatus =
    error.reason === "UNAUTHENTICATED"
      ? "auth-needed"
      : error.reason === "UNAVAILABLE"
        ? "unreachable"
        : "degraded";
  return { status, error: getSharedRedactor().redactText(error.message) };
}
