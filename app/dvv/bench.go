package main

import (
	"github.com/spf13/cobra"

	"deskvnc/app/bench"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this build on this machine",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{bench.VNC(), bench.VNCIdle(), bench.Loop()} {
		check := sub.Args
		sub.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return badUsage(cmd, "%w", err)
			}
			return nil
		}
		cmd.AddCommand(sub)
	}
	return cmd
}
