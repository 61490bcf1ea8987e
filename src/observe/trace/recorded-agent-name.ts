/** Names in the lines of a writer, by the name and the URL of the agent. */
const namesByWriter = new WeakMap<object, Map<string, string>>();

/**
 * Returns the name of an agent in the lines of a client. Agents of different URLs can have the same name in their cards.
 * The first one keeps the name, and the names of the others also contain their host.
 */
export function getRecordedAgentName(writer: object, name: string, url: string): string {
  const names = namesByWriter.get(writer) ?? new Map<string, string>();
  namesByWriter.set(writer, names);
  const key = `${name}\n${url}`;
  const known = names.get(key);
  if (known !== undefined) return known;
  const { host: fullHost = "", pathname = url } = URL.parse(url) ?? {};
  // Drawings have little space, and the port identifies a server on this machine.
  const host = fullHost.replace(/^(?:127\.0\.0\.1|localhost|\[::1\])(?=:)/, "");
  const taken = new Set(names.values());
  const candidates = [name, `${name} (${host})`, `${name} (${host}${pathname})`];
  const chosen = candidates.find((candidate) => !taken.has(candidate)) ?? `${name} (${url})`;
  names.set(key, chosen);
  return chosen;
}
