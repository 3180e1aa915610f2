"""A LangGraph agent whose model is scripted: it calls the tools that it is told to, and prints what it was offered and
what the tools answered. The first argument is a JSON document: command, args, cwd, calls."""

import asyncio
import json
import sys

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


class Scripted(BaseChatModel):
    """Calls one tool a turn, then says that it is done."""

    calls: list
    offered: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        self.offered = [{"name": t.name, "description": t.description, "schema": t.args_schema} for t in tools]
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        done = sum(isinstance(m, AIMessage) for m in messages)
        if done < len(self.calls):
            call = self.calls[done]
            message = AIMessage("", tool_calls=[{"id": str(done), "name": call["name"], "args": call["args"]}])
        else:
            message = AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main():
    script = json.loads(sys.argv[1])
    server = {"transport": "stdio", "command": script["command"], "args": script["args"], "cwd": script["cwd"]}
    client = MultiServerMCPClient({"rolecast": server})
    async with client.session("rolecast") as session:
        from langchain_mcp_adapters.tools import load_mcp_tools

        tools = await load_mcp_tools(session)
        scripted = Scripted(calls=script["calls"])
        model = scripted.bind_tools(tools)

        async def think(state):
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", think)
        graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
        graph.add_edge("tools", "model")
        ended = await graph.compile().ainvoke({"messages": [("user", "go")]}, {"recursion_limit": 50})
    answers = [m for m in ended["messages"] if isinstance(m, ToolMessage)]
    text = lambda c: c if isinstance(c, str) else "".join(b.get("text", "") for b in c)
    results = [{"name": m.name, "error": m.status == "error", "text": text(m.content)} for m in answers]
    print(json.dumps({"offered": scripted.offered, "results": results, "last": ended["messages"][-1].content}))


asyncio.run(main())
