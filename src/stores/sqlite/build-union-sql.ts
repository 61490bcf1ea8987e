/**
 * Unites queries with UNION ALL. `end` contains the order and the limit of the result. More than `maxTerms` queries form
 * groups with the same order and limit, so that SQLite reads at most one page per group.
 */
export function buildUnionSql(queries: readonly string[], end: string, maxTerms: number = Infinity): string {
  if (queries.length <= maxTerms) return `${queries.join("\nUNION ALL\n")}\n${end}`;
  const groups: string[] = [];
  for (let at = 0; at < queries.length; at += maxTerms)
    groups.push(`SELECT * FROM (${buildUnionSql(queries.slice(at, at + maxTerms), end)})`);
  return buildUnionSql(groups, end, maxTerms);
}
