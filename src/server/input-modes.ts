import type { AgentDescription } from "../engine/index.ts";
import { A2AError, matchesMediaType, getMediaType, type Message } from "../protocol/index.ts";

/**
 * Refuses a message with a part of a media type that the agent does not take (A2A §3.1.1). Only what the agent itself
 * declares counts, for the card or for any of its skills: one that declares nothing sees everything. A file that does
 * not say its type is let through.
 */
export function assertAcceptedInputModes({ parts }: Message, described: AgentDescription): void {
  const modes = collectInputModes(described);
  if (!modes) return;
  const violations = parts.flatMap((part, index) => {
    const type = getMediaType(part);
    if (type === undefined || matchesMediaType(modes, type)) return [];
    const description = `is ${JSON.stringify(type.slice(0, 100))}; this agent takes ${modes.join(", ")}`;
    return [{ field: `message.parts[${index}]`, description }];
  });
  const [first] = violations;
  if (!first) return;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const text = `${first.field} ${first.description}${more}.`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text, { violations });
}

function collectInputModes({ defaultInputModes, skills = [] }: AgentDescription): string[] | undefined {
  const ofSkills = skills.flatMap(({ inputModes }) => inputModes ?? []);
  if (!defaultInputModes && ofSkills.length === 0) return undefined;
  return [...new Set([...(defaultInputModes ?? DEFAULT_MEDIA_MODES), ...ofSkills])];
}

/** What the card of an agent says that declares none. */
export const DEFAULT_MEDIA_MODES: readonly string[] = ["text/plain"];
