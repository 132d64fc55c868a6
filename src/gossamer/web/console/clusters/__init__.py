"""The console's pages of clusters: figures of agents, and who has which shards as a drawing."""
