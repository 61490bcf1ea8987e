/** Returns whether a text is the URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/**
 * Formats a database URL as the display name of a store, with the host, the port, and the database. The name contains
 * neither the user nor the password. Throws an error without the URL if the URL is invalid.
 */
export function formatPostgresStoreName(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !isPostgresUrl(url))
    throw new Error(
      "The URL of the PostgreSQL store is invalid; use postgres://USER:PASSWORD@HOST:PORT/DATABASE, and percent-encode special characters of the password.",
    );
  return `postgres://${parsed.host}${parsed.pathname}`;
}
