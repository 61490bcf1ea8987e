import type { AuthConfig, BaseAgentConfig, Event, InvocationContext } from "@google/adk";
import type { A2AClient, ConnectOptions, SendOptions } from "../../../client/index.ts";
import type { PeerRequestedAdkEventAction } from "../adk-event-metadata.ts";
import type { SessionEventOptions } from "../to-session-event.ts";
import type { OutgoingMessage, OutgoingMessageOptions } from "./outgoing-message.ts";

/**
 * A request that `RemoteAgent` sends to the peer. The member `metadata` becomes the metadata of the A2A
 * request.
 */
export interface RemoteRequest
  extends OutgoingMessage, Pick<SendOptions, "messageId" | "configuration" | "metadata"> {}

/** Location of a remote agent: the URL of its server or agent card, or an open connection. */
type RemoteAgentUrlOrClient = string | A2AClient;

/** Options of `RemoteAgent`. */
export interface RemoteAgentOptions extends BaseAgentConfig {
  /**
   * Location of the remote agent, or a function that returns the location for an invocation. The `name` of
   * a `RemoteAgent` may differ from the name in the agent card.
   */
  agent:
    | RemoteAgentUrlOrClient
    | ((context: InvocationContext) => RemoteAgentUrlOrClient | Promise<RemoteAgentUrlOrClient>);
  /**
   * Connection options, which are used if `agent` is a URL. `RemoteAgent` always requests the extension of
   * ADK's bridges.
   */
  connect?: ConnectOptions;
  /**
   * Returns HTTP headers for the requests of an invocation, for example a header with the user's token.
   * `RemoteAgent` sends the returned headers only to the origin of the agent card and to
   * `connect.trustedOrigins`.
   */
  headers?: (context: InvocationContext) => Record<string, string> | Promise<Record<string, string>>;
  /**
   * ADK auth configuration of the peer. If a user has no credential, the run requests a credential with
   * `adk_request_credential`, and continues after the user's answer. `RemoteAgent` sends the credential only
   * to the origin of the agent card and to `connect.trustedOrigins`. Default: no credential.
   */
  auth?: AuthConfig;
  /** Time in milliseconds to cache an agent card. Default: 5 minutes. */
  cardMaxAgeMs?: number;
  /**
   * Maximum time in milliseconds without an event from the peer. A request that exceeds the idle time
   * fails. Default: 10 minutes.
   */
  idleTimeoutMs?: number;
  /**
   * Actions that the peer may request from local agents. By default, the peer may request `escalate`, which
   * ends a loop, and `skipSummarization`, which marks a final response.
   */
  allowedActions?: readonly PeerRequestedAdkEventAction[];
  /**
   * Session state keys that `RemoteAgent` sends with every message. A Colloquy peer accepts only the keys in
   * its `receiveState` option. Default: none.
   */
  sendState?: readonly string[];
  /**
   * Session state keys that the peer may set. The peer's values become the state delta of a session event.
   * Default: none.
   */
  receiveState?: readonly string[];
  /**
   * Converts a part before it is sent to the peer. If the converter returns `undefined`, the part is dropped.
   * Default: `toA2aPart`.
   */
  toA2aPart?: OutgoingMessageOptions["toA2aPart"];
  /**
   * Converts a part that was received from the peer. If the converter returns `undefined`, the part is
   * dropped. Default: `toGenaiPart`.
   */
  toGenaiPart?: SessionEventOptions["toGenaiPart"];
  /**
   * Hook that runs before each request to the peer. The hook may return another request, or a session event
   * that replaces the request.
   */
  beforeRequest?: (
    request: RemoteRequest,
    context: InvocationContext,
  ) => RemoteRequest | Event | undefined | Promise<RemoteRequest | Event | undefined>;
  /**
   * Hook that runs for each session event of the remote agent. The hook returns `undefined` to keep the
   * event, `null` to drop the event, or another event to replace the event.
   */
  onEvent?: (
    event: Event,
    context: InvocationContext,
  ) => Event | null | undefined | Promise<Event | null | undefined>;
}
