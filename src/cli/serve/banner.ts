import type { AgentDescription } from "../../engine/index.ts";
import { formatColloquyCommand, quoteShellWord } from "../format-colloquy-command.ts";

/** Description of a served agent from its agent card. */
export interface ServedAgentSummary {
  id: string;
  url: string;
  description: AgentDescription;
}

/** Renders one line for each agent, which contains its name, its URL unless it is empty, and its description. */
export function renderAgentList(served: readonly ServedAgentSummary[]): string {
  const id = Math.max(...served.map((agent) => agent.id.length));
  const url = Math.max(...served.map((agent) => agent.url.length));
  return served
    .map((agent) => {
      const columns = [agent.id.padEnd(id), ...(url > 0 ? [agent.url.padEnd(url)] : [])];
      return `  ${columns.join("  ")}  ${agent.description.description}\n`;
    })
    .join("");
}

/** Renders a `colloquy send` command that users can paste. */
export function renderSendCommand(url: string, text: string, ...flags: string[]): string {
  return `  ${formatColloquyCommand("send", url, ...flags, text)}\n`;
}

/** Renders the example request as a curl command. */
export function renderCurlCommand(url: string, text: string, header?: string): string {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  // Uses double quotes, so that the shell expands the variable.
  const headerFlag = header === undefined ? "" : ` -H "${header}"`;
  return `  curl -s ${url}${headerFlag} -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' -d ${quoteShellWord(body)}\n`;
}
