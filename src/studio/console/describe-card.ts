import { STREAM_CURSOR_EXTENSION_URI, type AgentCard, type AgentInterface } from "../../protocol/index.ts";
import type { ConsoleAgent } from "../console-api/index.ts";
import { HEADERS_SCHEME, listSignInSchemes } from "./credentials/index.ts";

type CardDescription = Omit<
  ConsoleAgent,
  "id" | "url" | "isOwn" | "isRecorded" | "credentials" | "status" | "error"
>;

/** Returns what the page shows of a card. */
export function describeCard(
  card: AgentCard,
  agentInterface: AgentInterface | undefined,
  isOwn: boolean,
): CardDescription {
  const { capabilities, supportedInterfaces, skills } = card;
  const version = agentInterface?.protocolVersion;
  const declaresCursor =
    capabilities.extensions?.some(({ uri }) => uri === STREAM_CURSOR_EXTENSION_URI) ?? false;
  return {
    name: card.name,
    bindings: [...new Set(supportedInterfaces.map(({ protocolBinding }) => protocolBinding))],
    versions: [...new Set(supportedInterfaces.map(({ protocolVersion }) => protocolVersion))],
    ...(agentInterface ? { binding: agentInterface.protocolBinding } : {}),
    ...(version === undefined ? {} : { version }),
    description: card.description,
    skills,
    capabilities: {
      streaming: capabilities.streaming ?? false,
      pushNotifications: capabilities.pushNotifications ?? false,
      listsTasks: version === undefined || !version.startsWith("0."),
      resumesAfterEvent: isOwn || declaresCursor,
    },
    signIn: isOwn ? listSignInSchemes(card) : [...listSignInSchemes(card), HEADERS_SCHEME],
  };
}

/** Returns what the page shows of an agent whose card could not be read. */
export function describeUnknownCard(url: string): CardDescription {
  return {
    name: URL.parse(url)?.host ?? url,
    bindings: [],
    versions: [],
    skills: [],
    capabilities: { streaming: false, pushNotifications: false, listsTasks: false, resumesAfterEvent: false },
    signIn: [...listSignInSchemes(undefined), HEADERS_SCHEME],
  };
}
