import { Option } from "commander";

/** Creates the option `--allow-private-agents` of the commands that offer the console. */
export function createPrivateAgentsOption(): Option {
  return new Option(
    "--allow-private-agents",
    "let users of the console add agents of this machine and of private networks, also behind a proxy",
  );
}
