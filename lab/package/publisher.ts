import { readFileSync } from "node:fs";

/**
 * What a publisher fills in before the first release. It is the only place: the manifest and the links of the published
 * package come from this file (RELEASING.md).
 */
export interface Publisher {
  /** URL of the repository without `.git`, for example `https://github.com/OWNER/NAME`. */
  readonly repository: string;
  /** URL of the documentation. Empty: the README in the repository. */
  readonly homepage: string;
  /** Name and address of the author, for example `Ada Lovelace <ada@example.com>`. */
  readonly author: string;
}

const PUBLISHER_MEMBERS = ["repository", "homepage", "author"] as const;

/** Reads `publisher.json` at the root of the repository. */
export function readPublisher(file: URL = new URL("../../publisher.json", import.meta.url)): Publisher {
  const content = JSON.parse(readFileSync(file, "utf8")) as Partial<Publisher>;
  for (const member of PUBLISHER_MEMBERS)
    if (typeof content[member] !== "string") throw new Error(`publisher.json: "${member}" must be a string.`);
  return content as Publisher;
}

/** Returns what is still missing or wrong for a release. */
export function listPublisherProblems({ repository, homepage, author }: Publisher): string[] {
  const problems: string[] = [];
  if (!/^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/.test(repository) || repository.endsWith(".git"))
    problems.push(`"repository" must be a URL such as https://github.com/OWNER/NAME, without .git`);
  if (homepage !== "" && !/^https:\/\/\S+$/.test(homepage))
    problems.push(`"homepage" must be an https URL, or empty`);
  if (!/^[^<]+ <[^@\s]+@[^\s>]+>$/.test(author))
    problems.push(`"author" must be a name and an address, such as Ada Lovelace <ada@example.com>`);
  return problems.map((problem) => `publisher.json: ${problem}`);
}
