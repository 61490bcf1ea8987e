/** Credentials for agents: the forms that a card asks for, and the credentials that the user has entered. */
export { AgentCredentialStore } from "./agent-credential-store.ts";
export { listSignInSchemes } from "./sign-in-schemes.ts";
