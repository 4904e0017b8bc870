if __name__ == "__main__":  # child processes run this file, too, and need none of it
    from app.cli.commands import main

    main()
