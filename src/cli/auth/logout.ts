import { existsSync } from "node:fs";
import { Command } from "commander";
import { parseAgentUrl } from "../../client/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createOutputOption } from "../client-options.ts";
import { createUsageError } from "../cli-error.ts";
import { OutputWriter, type OutputFormat } from "../output-writer.ts";
import { getLoginFile } from "../settings.ts";
import { type StoredLogin, updateLogins } from "./login-file.ts";

interface AuthLogoutOptions {
  scheme?: string;
  all?: boolean;
  output: OutputFormat;
}

export function createAuthLogoutCommand(context: CliContext): Command {
  return new Command("logout")
    .argument("[agent]", "the URL or the host of the agent")
    .option("--scheme <name>", "delete only the login for this security scheme")
    .option("--all", "delete the logins at all agents")
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addHelpText("after", "\nThe authorization server may accept deleted tokens until they expire.")
    .action((agent: string | undefined, { scheme, all, output }: AuthLogoutOptions) => {
      if ((agent === undefined) !== (all === true))
        throw createUsageError(
          "Pass the URL of an agent, or --all.",
          "colloquy config show lists the logins.",
        );
      const origin = agent === undefined ? undefined : parseAgentUrl(agent).origin;
      const isDeleted = (login: StoredLogin): boolean =>
        (origin ?? login.origin) === login.origin && (scheme ?? login.scheme) === login.scheme;
      const file = getLoginFile(context.env);
      let deleted: StoredLogin[] = [];
      if (existsSync(file))
        updateLogins(file, (logins) => {
          deleted = logins.filter(isDeleted);
          return logins.filter((login) => !isDeleted(login));
        });
      const logins = deleted.map((login) => ({ origin: login.origin, scheme: login.scheme }));
      const names = logins.map((login) => `${login.origin} (${login.scheme})`);
      new OutputWriter(context.streams, output).writeResult(
        { deleted: logins },
        { "Logged out": names.join(", ") || "none" },
      );
    });
}
