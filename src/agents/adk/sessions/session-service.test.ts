import { SESSION_SERVICES_UNDER_TEST } from "./session-service.contract.ts";
import { defineSessionServiceContract } from "./session-service-behavior.contract.ts";

for (const sessions of SESSION_SERVICES_UNDER_TEST) defineSessionServiceContract(sessions);
