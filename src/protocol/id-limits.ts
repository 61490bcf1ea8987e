/** Maximum length of an id of a task, context, message, artifact, webhook, or tenant, in UTF-16 code units. */
export const MAX_ID_LENGTH = 256;

/**
 * Control characters, line separators, and controls of the reading direction. In a log or on a terminal, an id
 * with these characters could look like another id, or like several lines.
 */
// oxlint-disable-next-line no-control-regex -- The pattern finds control characters.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Returns a description of the problem if an id is too long or has control characters. */
export function findIdViolation(id: string): string | undefined {
  if (id.length > MAX_ID_LENGTH)
    return `has ${id.length} characters; an id has at most ${MAX_ID_LENGTH} characters, such as a UUID`;
  if (CONTROL_CHARACTERS.test(id)) return "has control characters; use printable characters, such as a UUID";
  return undefined;
}

/** Maximum length in characters of a URL that another computer sent. */
export const MAX_URL_LENGTH = 2_048;
