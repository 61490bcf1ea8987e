import type { AgentDescription } from "../engine/index.ts";
import { A2AError, matchesMediaType, getMediaType, type Message } from "../protocol/index.ts";

/**
 * Throws CONTENT_TYPE_NOT_SUPPORTED if a message part has a media type that the agent does not accept (A2A
 * §3.1.1). The accepted types are the input modes of the agent and of all skills. An agent without input
 * modes accepts every media type. Every agent accepts files without a media type.
 */
export function assertAcceptedInputModes({ parts }: Message, agentDescription: AgentDescription): void {
  const modes = getInputModes(agentDescription);
  if (!modes) return;
  const violations = parts.flatMap((part, index) => {
    const type = getMediaType(part);
    if (type === undefined || matchesMediaType(modes, type)) return [];
    const description = `is ${JSON.stringify(type.slice(0, 100))}; this agent accepts ${modes.join(", ")}`;
    return [{ field: `message.parts[${index}]`, description }];
  });
  const [first] = violations;
  if (!first) return;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const text = `${first.field} ${first.description}${more}.`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text, { violations });
}

const inputModesByDescription = new WeakMap<AgentDescription, readonly string[] | undefined>();

/** Returns the cached input modes of a description, because they are needed for every message. */
function getInputModes(description: AgentDescription): readonly string[] | undefined {
  if (!inputModesByDescription.has(description))
    inputModesByDescription.set(description, collectInputModes(description));
  return inputModesByDescription.get(description);
}

function collectInputModes({ defaultInputModes, skills = [] }: AgentDescription): string[] | undefined {
  const skillModes = skills.flatMap(({ inputModes }) => inputModes ?? []);
  if (!defaultInputModes && skillModes.length === 0) return undefined;
  return [...new Set([...(defaultInputModes ?? DEFAULT_MEDIA_MODES), ...skillModes])];
}

/** Default input and output modes in agent cards, for agents that declare no modes. */
export const DEFAULT_MEDIA_MODES: readonly string[] = ["text/plain"];
