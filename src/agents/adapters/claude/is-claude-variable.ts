const CLAUDE_VARIABLES = /^(?:ANTHROPIC|CLAUDE)_|^(?:HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)$/i;
const BEDROCK_VARIABLES = /^AWS_/;
const VERTEX_VARIABLES = /^(?:GOOGLE|GCLOUD|CLOUD_ML|CLOUDSDK|VERTEX)_/;

/**
 * Returns whether an environment variable configures Claude Code. The credentials of AWS and of Google Cloud belong
 * to Claude Code only if it uses Bedrock or Vertex AI.
 */
export function isClaudeVariable(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (CLAUDE_VARIABLES.test(name)) return true;
  if (BEDROCK_VARIABLES.test(name)) return Boolean(env["CLAUDE_CODE_USE_BEDROCK"]);
  return VERTEX_VARIABLES.test(name) && Boolean(env["CLAUDE_CODE_USE_VERTEX"]);
}
