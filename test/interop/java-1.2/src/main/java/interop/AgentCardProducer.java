package interop;

import org.a2aproject.sdk.server.PublicAgentCard;
import org.a2aproject.sdk.spec.AgentCapabilities;
import org.a2aproject.sdk.spec.AgentCard;
import org.a2aproject.sdk.spec.AgentInterface;
import org.a2aproject.sdk.spec.AgentSkill;
import org.a2aproject.sdk.spec.HTTPAuthSecurityScheme;
import org.a2aproject.sdk.spec.SecurityRequirement;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.util.List;
import java.util.Map;

@ApplicationScoped
public class AgentCardProducer {
  @Produces
  @PublicAgentCard
  public AgentCard createCard() {
    String url = Main.getUrl();
    AgentCard.Builder card = AgentCard.builder()
        .name("Obedient")
        .description("Does as it is told.")
        .version("1")
        .supportedInterfaces(List.of(
            new AgentInterface("JSONRPC", url),
            new AgentInterface("HTTP+JSON", url),
            new AgentInterface("GRPC", url.replace("http://", ""))))
        .capabilities(AgentCapabilities.builder().streaming(true).pushNotifications(true).build())
        .defaultInputModes(List.of("text/plain"))
        .defaultOutputModes(List.of("text/plain"))
        .skills(List.of(AgentSkill.builder()
            .id("obey").name("Obey").description("Obeys").tags(List.of("test")).build()));
    if (BearerTokenFilter.TOKEN == null) return card.build();
    return card
        .securitySchemes(Map.of("token", HTTPAuthSecurityScheme.builder().scheme("bearer").build()))
        .securityRequirements(List.of(SecurityRequirement.builder().scheme("token", List.of()).build()))
        .build();
  }
}
